"""The trio shell: it waits, keeps order, and carries out what the cores below decide.

broker          Broker, all parts put together
requests        what a handler gets and gives: RequestContext, Later
partition       Partition, one log and what of it may be seen
partitions      Partitions, all of them, opened and closed as the image says
data_directory  DataDirectory, where they lie
disk_threads    many waits for the disk at once
fetching        Fetcher, what a reader gets now and how it waits for more
fetch_sessions  what clients fetch, remembered
commit_wait     CommitWait, the second half of a produce with acks=all
flushing        Flusher, group commit
coordinator     Coordinator, the shards of one topic, found by a key
group_coordinator  all groups whose records lie here
shard_driver    ShardDriver, one shard: its requests, records, replies and time
transaction_coordinator  all transactional ids whose records lie here
markers         the ends of transactions, written until they are there
transactional_writes  batches that wait for their coordinator's word
stored_records  all records of a partition, for a shard that is loaded
transactional_offsets  offsets that a producer commits in its transaction
gathering       answers of several shards for one request
kept_answers    KeptAnswers, metadata as bytes until the cluster changes
control         Control, the one way to change what the cluster is
membership      registration, leases, who decides
administration  what clients ask the controller
producer_ids    numbers that are given once
features        what the cluster agrees on
resources       operations as bits
refusals        from the errors of logs to those of the protocol
upkeep          what must be done now and then
cleaning        compaction, one log after another
clock           the two clocks
"""
