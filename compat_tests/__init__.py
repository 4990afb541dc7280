"""Stock clients and tools against a broker in a process of its own, one folder each.

scenarios        what must hold for every client, whoever wrote it
client           what a client can do, and a record, in words that all clients share
program          a client as a program of any language, driven by lines of JSON
serve            the other end of these lines, for clients written in Python
clients          all programs of all folders
matrix           client by version by scenario, on both brokers, for docs/compatibility.md
brokers          both of them; ``broker_process`` is the installed ``kbroker start``

Every folder names the versions it tests, tells how to run one test (README.md) and what was found
(FINDINGS.md), and adds tests of what only this client does.
"""
