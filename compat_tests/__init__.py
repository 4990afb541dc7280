"""Stock clients and tools against a broker in a process of its own, one folder each.

broker_process   the broker: the installed ``kbroker start``
client           what a client can do, and a record, in words that all clients share
contract_*       what must hold for every client, whoever wrote it

Every folder names the version it tests, adapts its client to the shared words, runs the contract
and adds what only this client does. FINDINGS.md in it tells what was found.
"""
