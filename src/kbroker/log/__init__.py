"""One partition on disk, in Kafka's files: append, read, recover, retain; synchronous.

partition_log         PartitionLog, the log of one partition: opening, appending, reading
local_log             its segments through their life: roll, truncate, flush, delete
log_directory         LogDirectory, a data directory with its checkpoints and markers
recovery              from the files in a directory to a log
validation            what a topic demands of a batch
retention             which segments may go
cleanable             how much of a log compaction may work on
compaction            CompactionJob, one round of it
batch_retention       what it leaves of a batch
cleaned_transactions  the transactions on its way
cleaned_segment       the segment it writes
offset_map            the last offset of each key
swap                  new segments take the place of old ones
leftovers             what was left unfinished, finished
timestamps            offsets by time
segments              the segments in order, and reading them
segment               one file of batches with its indexes
segment_file          the open file of a segment
offset_index          offset -> position
time_index            timestamp -> offset
transaction_index     the aborted transactions
producer_state        the idempotent and transactional producers
producer_entry        one of them
producer_snapshot     the bytes of a snapshot of them
verification          what is asked before a transaction begins here
snapshot_files        the snapshots of a partition
leader_epochs         where each leader epoch begins
partition_metadata    which topic a directory belongs to
checkpoints           files with an offset for each partition
flushing              FlushJob, a trip to the platter
deletion              files on their way out
file_names            the names of all these files
disk                  Disk, the door to the file system
errors                LogError and its kinds, each with the name of Kafka's error code
"""

from kbroker.log.cleanable import Cleanable, assess
from kbroker.log.compaction import Cleaned, CompactionJob, begin_cleaning, finish_cleaning
from kbroker.log.deletion import DeletedDirectory, DeletedSegment
from kbroker.log.disk import REAL_DISK, Disk
from kbroker.log.errors import (
    CleaningAborted,
    CoordinatorFenced,
    CorruptLog,
    DiskFailed,
    InconsistentTopicId,
    InvalidProducerEpoch,
    InvalidRecords,
    InvalidTimestamp,
    InvalidTransactionState,
    LogError,
    OffsetOutOfRange,
    OutOfOrderSequence,
    RecordError,
    RecordListTooLarge,
    RecordsRefused,
    RecordTooLarge,
    StorageError,
    UnexpectedOffset,
)
from kbroker.log.flushing import FlushJob
from kbroker.log.log_directory import LogDirectory, MetaProperties, PartitionDirectory
from kbroker.log.partition_log import AbortedTransaction, Appended, PartitionLog
from kbroker.log.timestamps import FoundOffset
from kbroker.log.verification import Verification

__all__ = [
    "PartitionLog",
    "AbortedTransaction",
    "Appended",
    "LogDirectory",
    "MetaProperties",
    "PartitionDirectory",
    "DeletedDirectory",
    "DeletedSegment",
    "FlushJob",
    "FoundOffset",
    "Cleanable",
    "Cleaned",
    "CompactionJob",
    "assess",
    "begin_cleaning",
    "finish_cleaning",
    "REAL_DISK",
    "Disk",
    "LogError",
    "CleaningAborted",
    "CoordinatorFenced",
    "CorruptLog",
    "DiskFailed",
    "InconsistentTopicId",
    "InvalidProducerEpoch",
    "InvalidRecords",
    "InvalidTimestamp",
    "InvalidTransactionState",
    "OffsetOutOfRange",
    "OutOfOrderSequence",
    "RecordError",
    "RecordListTooLarge",
    "RecordTooLarge",
    "RecordsRefused",
    "StorageError",
    "UnexpectedOffset",
    "Verification",
]
