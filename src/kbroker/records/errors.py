"""What can be wrong with record bytes: the only exceptions that leave this package on bad input.

Each class names the error code Kafka 4 answers a Produce request with, as ``kafka_error``. It is
a name and not a number, because this package does not know the wire; the broker looks it up.
"""
# ruff: noqa: N818 - "raise CorruptRecords" says it all; only the root is called an error.

from typing import ClassVar


class RecordsError(Exception):
    """The root of all complaints about record bytes."""

    kafka_error: ClassVar[str] = "CORRUPT_MESSAGE"


class CorruptRecords(RecordsError):
    """The bytes are not what a writer wrote: CORRUPT_MESSAGE (CorruptRecordException)."""


class TruncatedRecords(CorruptRecords):
    """The bytes end inside a batch; all before it is sound.

    Normal at the tail of a fetched piece of log and after a crash.
    """


class InvalidBatch(RecordsError):
    """A sound batch that a client may not write: INVALID_RECORD (InvalidRecordException)."""

    kafka_error: ClassVar[str] = "INVALID_RECORD"


class UnsupportedMagic(InvalidBatch):
    """Message format 0 or 1, which Kafka 4 no longer takes: INVALID_RECORD.

    Kafka answers so from Produce version 3 on (``ProduceRequest.validateRecords``), and it serves
    no older version since 4.0.
    """


class UnsupportedCompression(RecordsError):
    """A compression type nobody defined: UNSUPPORTED_COMPRESSION_TYPE."""

    kafka_error: ClassVar[str] = "UNSUPPORTED_COMPRESSION_TYPE"


class BatchTooLarge(RecordsError):
    """A batch holds more than our limits allow: MESSAGE_TOO_LARGE.

    Kafka has no such limits and so no code for them. On this one the Java producer splits the
    batch and sends the parts, which is what helps.
    """

    kafka_error: ClassVar[str] = "MESSAGE_TOO_LARGE"


class DecompressedTooLarge(BatchTooLarge):
    """The records unpack to more bytes than the limit allows: MESSAGE_TOO_LARGE."""
