"""The check of a batch that a client sent, on the path of every produced byte.

One pass over the header fields in Kafka's order of complaints, one CRC, no record opened. What
lies inside the records is the client's affair (and its consumers'), as long as the broker need not
look: compaction and whoever else opens them must be ready for anything.
"""

from struct import error as struct_error

from crc32c import crc32c

from kbroker.records.errors import (
    BatchTooLarge,
    CorruptRecords,
    InvalidBatch,
    TruncatedRecords,
    UnsupportedCompression,
)
from kbroker.records.header import (
    CHECKED_POSITION,
    COMPRESSION_MASK,
    CONTROL_BIT,
    CURRENT_MAGIC,
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    MIN_RECORD_BYTES,
    BatchHeader,
    Buffer,
    Compression,
    scan_batches,
)
from kbroker.records.limits import DEFAULT_LIMITS, Limits

_LAST_COMPRESSION = int(Compression.ZSTD)  # an enum member costs a lookup per batch
_unpack_header = HEADER.unpack_from
_new_tuple = tuple.__new__


def check_produced(records: Buffer, limits: Limits = DEFAULT_LIMITS) -> BatchHeader:
    """The header of the one batch that a producer sent, after all checks that open no record.

    This is the produce path: what ``ProduceRequest``, ``UnifiedLog`` and ``LogValidator`` demand
    of a batch from a client, with their error codes. Raises CorruptRecords, InvalidBatch,
    UnsupportedMagic, UnsupportedCompression or BatchTooLarge. What depends on the topic is the
    log's affair: its size limit, the range of timestamps, their type (see `stamp_create_time`).
    """
    try:
        header = _new_tuple(BatchHeader, _unpack_header(records, 0))
    except struct_error:
        raise _complaint_about_shape(records) from None
    (
        base_offset, batch_length, _, magic, crc, attributes, last_offset_delta,
        _, _, producer_id, _, base_sequence, record_count,
    ) = header  # fmt: skip
    if magic != CURRENT_MAGIC or batch_length + LENGTH_OVERHEAD_BYTES != len(records):
        raise _complaint_about_shape(records)
    if base_offset != 0:
        raise InvalidBatch(f"base offset {base_offset} instead of 0")
    if crc32c(memoryview(records)[CHECKED_POSITION:]) != crc:
        raise CorruptRecords("the CRC does not match")
    if record_count < 1 or last_offset_delta != record_count - 1:
        raise InvalidBatch(f"{record_count} records, but last offset delta {last_offset_delta}")
    if record_count > limits.max_records:
        raise BatchTooLarge(f"{record_count} records in one batch")
    if attributes & CONTROL_BIT:
        raise InvalidBatch("clients may not write control records")
    if producer_id >= 0 and base_sequence < 0:
        raise InvalidBatch(f"producer {producer_id} with sequence {base_sequence}")
    compression = attributes & COMPRESSION_MASK
    if compression > _LAST_COMPRESSION:
        raise UnsupportedCompression(f"compression type {compression} is not defined")
    if not compression and record_count * MIN_RECORD_BYTES > len(records) - HEADER_BYTES:
        raise InvalidBatch(f"{record_count} records do not fit into {len(records)} bytes")
    return header


def _complaint_about_shape(records: Buffer) -> CorruptRecords | InvalidBatch:
    """What is wrong with ``records``, which are not exactly one batch of format 2."""
    try:
        batches = sum(1 for _ in scan_batches(records))
    except TruncatedRecords as error:
        # A cut batch is no batch to Kafka, and it demands one: INVALID_RECORD.
        return InvalidBatch(str(error))
    except (CorruptRecords, InvalidBatch) as error:
        return error
    return InvalidBatch(f"{batches} batches instead of one")
