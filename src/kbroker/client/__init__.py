"""A small blocking Kafka client: for people's commands and for tests that speak the raw protocol.

errors        ClientError and its kinds, each one sentence long
bootstrap     the addresses in ``host:port[,host:port]``
connection    Connection, one socket: requests at chosen versions, pipelining, raw bytes
retrying      Retries, when to try again and when to give up
cluster       Cluster, metadata, leaders, the controller, coordinators, a connection per broker
topics        create, delete, grow and configure topics; their offsets
groups        list, describe and delete groups
transactions  list, describe and abort transactions
group_offsets what groups have committed, how far they lag; how to set them back
partitioning  which partition a key belongs to, as in the Java client
producing     Producer, batches with acks=all
aborted       which batches of a fetch a reader of committed data does not see
consuming     Consumer, partitions read from a chosen start
batches       what lies in a log, batch by batch: also what no application sees

Import from the modules: `kbroker start` shares none of them and should not pay for them.
"""
