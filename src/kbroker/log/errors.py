"""What the log refuses and what the disk refuses it.

Each class names the error code Kafka answers with, as ``kafka_error``: a name and not a number,
because this package does not know the wire. Complaints about the bytes of a batch itself are
those of `kbroker.records`.
"""
# ruff: noqa: N818 - "raise OffsetOutOfRange" says it all; only the root is called an error.

from collections.abc import Sequence
from typing import ClassVar, NamedTuple


class LogError(Exception):
    """The root of all complaints of this package."""

    kafka_error: ClassVar[str] = "KAFKA_STORAGE_ERROR"


class StorageError(LogError):
    """The disk did not take or give the bytes; the log is as it was before and stays usable."""


class DiskFailed(StorageError):
    """The disk may have lost what it had accepted: nothing in this log directory can be trusted.

    After a failed fsync the kernel may drop the dirty pages and call the next one a success, so
    trying again proves nothing (L6). The shell takes the directory offline.
    """


class CorruptLog(LogError):
    """Files that no writer of ours or Kafka's leaves behind, and that cannot be repaired."""


class CleaningAborted(LogError):
    """A round of compaction that came to nothing because the log changed under it."""


class OffsetOutOfRange(LogError):
    """An offset before the log start, behind the log end, or behind the high watermark."""

    kafka_error: ClassVar[str] = "OFFSET_OUT_OF_RANGE"


class RecordTooLarge(LogError):
    """A batch above ``max.message.bytes``; on this one the Java producer splits the batch."""

    kafka_error: ClassVar[str] = "MESSAGE_TOO_LARGE"


class RecordListTooLarge(LogError):
    """A batch that is larger than a whole segment may be."""

    kafka_error: ClassVar[str] = "RECORD_LIST_TOO_LARGE"


class UnexpectedOffset(LogError):
    """A replicated batch that does not come behind the log end."""

    kafka_error: ClassVar[str] = "UNKNOWN_SERVER_ERROR"


class InconsistentTopicId(LogError):
    """The directory belongs to another topic of the same name."""

    kafka_error: ClassVar[str] = "INCONSISTENT_TOPIC_ID"


class InvalidProducerEpoch(LogError):
    """A producer that has been fenced by a newer epoch of its id (P5)."""

    kafka_error: ClassVar[str] = "INVALID_PRODUCER_EPOCH"


class OutOfOrderSequence(LogError):
    """A batch whose sequence does not follow the last one of its producer (P3)."""

    kafka_error: ClassVar[str] = "OUT_OF_ORDER_SEQUENCE_NUMBER"


class InvalidTransactionState(LogError):
    """A write outside a transaction by a producer whose transaction is open here (T16)."""

    kafka_error: ClassVar[str] = "INVALID_TXN_STATE"


class CoordinatorFenced(LogError):
    """A marker from a transaction coordinator that has a successor (T5)."""

    kafka_error: ClassVar[str] = "TRANSACTION_COORDINATOR_FENCED"


class RecordError(NamedTuple):
    """Why one record of a batch was refused: its place in the batch and the words."""

    batch_index: int
    message: str


class RecordsRefused(LogError):
    """A sound batch with records that the topic does not take; nothing of it was appended."""

    kafka_error: ClassVar[str] = "INVALID_RECORD"

    def __init__(self, message: str, record_errors: Sequence[RecordError]) -> None:
        super().__init__(message)
        self.record_errors = tuple(record_errors)


class InvalidRecords(RecordsRefused):
    """Records without a key in a compacted topic."""


class InvalidTimestamp(RecordsRefused):
    """Records from too far in the past or the future, or of the wrong timestamp type."""

    kafka_error: ClassVar[str] = "INVALID_TIMESTAMP"
