"""Commands for people: ``kbroker start``, and small ones for those without Java.

main           the entry point: finds the command, runs it, turns its end into an exit code
errors         CommandError, one line on stderr and an exit code
arguments      options that several commands share, and the values people write
connected      a cluster for the time of a command; its refusals as CommandErrors or lines
tables         rows that fit the terminal, or plain ones for pipes
topics         kbroker topics create | list | describe | alter | delete
groups         kbroker groups list | describe | delete
reset_offsets  kbroker groups reset-offsets
transactions   kbroker transactions list | describe | producers | abort
produce        kbroker produce: lines in, records out
consume        kbroker consume: records in, lines out
lines          a record as a line of text or of JSON
start          kbroker start

Every command module has ``add_arguments(parser)`` and ``run(arguments) -> exit code``, and is
imported only when its command was given.
"""
