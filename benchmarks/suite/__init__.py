"""The suite: kbroker beside Apache Kafka (and kfake where it can serve), row by row.

workload        what a row is, and the brokers it runs on
produce         sizes, partitions, batches, acks, compression, clients
consume         from the page cache, while producing, to many readers
latency         at a fixed rate, and from end to end
connections     busy and idle ones
small_requests  fetch sessions, offsets, metadata, heartbeats and commits
crowd           the members of groups behind these
starting        until a broker serves, with many partitions and after a crash; memory at the end
compaction      how fast superfluous records go
rounds          runs a row: warm-up, then rounds in turns on all brokers
results         what was measured, kept as JSON and merged with what was there
report, chart   the same for people, as a table and as a picture
machine         what it was measured on
"""
