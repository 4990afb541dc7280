"""The 61 bytes before the records of a batch: read, checked and stamped where they lie.

Everything here works on a buffer and a position and never opens or copies the records:

    position  bytes  field                          position  bytes  field
    --------  -----  ---------------------------    --------  -----  ------------------
           0      8  base offset                          27      8  base timestamp
           8      4  batch length, from 12 on             35      8  max timestamp
          12      4  partition leader epoch               43      8  producer id
          16      1  magic                                51      2  producer epoch
          17      4  CRC-32C of all from 21 on            53      4  base sequence
          21      2  attributes                           57      4  record count
          23      4  last offset delta                    61         the records

    attributes:  bits 0-2 compression, 3 timestamp type, 4 transactional, 5 control,
                 6 delete horizon (the base timestamp is then that horizon, KIP-534)

What a leader assigns (base offset, leader epoch) lies before the CRC, so that stamping it costs
no checksum; attributes and timestamps lie inside it.
"""

from collections.abc import Iterator
from enum import IntEnum
from struct import Struct
from struct import error as struct_error
from typing import NamedTuple, TypeAlias

from crc32c import crc32c

from kbroker.records.errors import (
    CorruptRecords,
    TruncatedRecords,
    UnsupportedCompression,
    UnsupportedMagic,
)

Buffer: TypeAlias = bytes | bytearray | memoryview
WritableBuffer: TypeAlias = bytearray | memoryview

HEADER_BYTES = 61
# What the length field does not count: the base offset and itself.
LENGTH_OVERHEAD_BYTES = 12
# A record has seven fields of a byte or more each, even if it holds nothing.
MIN_RECORD_BYTES = 7
CURRENT_MAGIC = 2

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1
NO_LEADER_EPOCH = -1

MAX_SEQUENCE = 2_147_483_647

COMPRESSION_MASK = 0x07
LOG_APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40

MAGIC_POSITION = 16
CRC_POSITION = 17
# The CRC covers everything from here to the end of the batch.
CHECKED_POSITION = 21

HEADER = Struct(">qiibIhiqqqhii")
assert HEADER.size == HEADER_BYTES

# A record of message format 0 with neither key nor value; no format has anything shorter.
_SHORTEST_LENGTH = 14

_LENGTH_TO_MAGIC = Struct(">iib")
_unpack_header = HEADER.unpack_from
_unpack_length = _LENGTH_TO_MAGIC.unpack_from
_write_base_offset = Struct(">q").pack_into
_write_leader_epoch = Struct(">i").pack_into
_write_crc = Struct(">I").pack_into
_write_attributes = Struct(">h").pack_into
_write_timestamp = Struct(">q").pack_into
_new_tuple = tuple.__new__


class Compression(IntEnum):
    """How the records of a batch are packed; the numbers are those of the attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class BatchHeader(NamedTuple):
    """The header fields of one batch, in the order of the wire."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size_bytes(self) -> int:
        """All bytes of the batch, from its base offset to its last record."""
        return self.batch_length + LENGTH_OVERHEAD_BYTES

    @property
    def last_offset(self) -> int:
        """The offset of the last record, kept by compaction when that record is gone."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The offset after the last one."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record; after 2147483647 comes 0 (P3)."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & MAX_SEQUENCE

    @property
    def compression(self) -> Compression:
        """How the records are packed; UnsupportedCompression for the undefined types 5 to 7."""
        try:
            return Compression(self.attributes & COMPRESSION_MASK)
        except ValueError:
            number = self.attributes & COMPRESSION_MASK
            raise UnsupportedCompression(f"compression type {number} is not defined") from None

    @property
    def is_log_append_time(self) -> bool:
        """Whether all records carry the max timestamp instead of their own."""
        return self.attributes & LOG_APPEND_TIME_BIT != 0

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction, as data or as its marker."""
        return self.attributes & TRANSACTIONAL_BIT != 0

    @property
    def is_control(self) -> bool:
        """Whether the records are for brokers and consumers' positions, not for applications."""
        return self.attributes & CONTROL_BIT != 0

    @property
    def has_delete_horizon(self) -> bool:
        """Whether the base timestamp says when compaction may drop tombstones and markers."""
        return self.attributes & DELETE_HORIZON_BIT != 0


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at ``position``, as it stands; TruncatedRecords if the buffer ends inside it.

    Nothing is checked: a magic other than 2 means that the other fields mean nothing.
    """
    try:
        return _new_tuple(BatchHeader, _unpack_header(buffer, position))
    except struct_error:
        raise TruncatedRecords(
            f"{len(buffer) - position} bytes are too few for a batch header"
        ) from None


def compute_crc(buffer: Buffer, position: int, size_bytes: int) -> int:
    """The CRC-32C that belongs into the header of the batch at ``position``."""
    return crc32c(memoryview(buffer)[position + CHECKED_POSITION : position + size_bytes])


def crc_matches(buffer: Buffer, position: int, header: BatchHeader) -> bool:
    """Whether the batch at ``position`` is whole and its bytes are those its writer summed up."""
    size_bytes = header.batch_length + LENGTH_OVERHEAD_BYTES
    if size_bytes < HEADER_BYTES or position + size_bytes > len(buffer):
        return False
    checked = memoryview(buffer)[position + CHECKED_POSITION : position + size_bytes]
    return crc32c(checked) == header.crc


def stamp(buffer: WritableBuffer, position: int, *, base_offset: int, leader_epoch: int) -> None:
    """Give the batch its place in the log; the CRC stays as it is."""
    _write_base_offset(buffer, position, base_offset)
    _write_leader_epoch(buffer, position + 12, leader_epoch)


def stamp_log_append_time(buffer: WritableBuffer, position: int, *, timestamp_ms: int) -> None:
    """Let all records of the batch carry ``timestamp_ms``, and sum up the batch anew."""
    header = read_header(buffer, position)
    _write_attributes(buffer, position + 21, header.attributes | LOG_APPEND_TIME_BIT)
    stamp_max_timestamp(buffer, position, timestamp_ms=timestamp_ms)


def stamp_create_time(buffer: WritableBuffer, position: int) -> None:
    """Let all records of the batch carry their own timestamps, and sum up the batch anew.

    Kafka does so to a client's batch that claims log append time in a topic of create time. In a
    topic of log append time it refuses such a batch: INVALID_TIMESTAMP.
    """
    header = read_header(buffer, position)
    _write_attributes(buffer, position + 21, header.attributes & ~LOG_APPEND_TIME_BIT)
    crc = compute_crc(buffer, position, header.size_bytes)
    _write_crc(buffer, position + CRC_POSITION, crc)


def stamp_max_timestamp(buffer: WritableBuffer, position: int, *, timestamp_ms: int) -> None:
    """Set the max timestamp and sum up the batch anew.

    There is no such stamp for a delete horizon: it takes the place of the base timestamp, from
    which the records count theirs, so the batch must be built anew (``build_batch``).
    """
    header = read_header(buffer, position)
    _write_timestamp(buffer, position + 35, timestamp_ms)
    crc = compute_crc(buffer, position, header.size_bytes)
    _write_crc(buffer, position + CRC_POSITION, crc)


def scan_batches(buffer: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """Positions and headers of the batches that follow one another in ``buffer``.

    Lengths and magic are checked, CRCs are not. Raises UnsupportedMagic at a batch of format 0 or
    1, TruncatedRecords when the buffer ends inside a batch, CorruptRecords at anything else; what
    was yielded before is sound in any case.
    """
    position = 0
    end = len(buffer)
    while position < end:
        size_bytes = _size_of_next(buffer, position, end)
        yield position, _new_tuple(BatchHeader, _unpack_header(buffer, position))
        position += size_bytes


def _size_of_next(buffer: Buffer, position: int, end: int) -> int:
    """The size of the whole batch of format 2 at ``position``; raises as `scan_batches` does."""
    # All formats agree on the place of length and magic.
    if position + CRC_POSITION > end:
        raise TruncatedRecords(f"{end - position} bytes are too few for a batch header")
    batch_length, _, magic = _unpack_length(buffer, position + 8)
    if batch_length < _SHORTEST_LENGTH:
        raise CorruptRecords(f"batch length {batch_length} at position {position}")
    if magic != CURRENT_MAGIC:
        if magic in (0, 1):
            raise UnsupportedMagic(f"message format {magic} is not supported any more")
        raise CorruptRecords(f"magic {magic} at position {position}")
    size_bytes: int = batch_length + LENGTH_OVERHEAD_BYTES
    if size_bytes < HEADER_BYTES:
        raise CorruptRecords(f"batch length {batch_length} is less than its header needs")
    if position + size_bytes > end:
        raise TruncatedRecords(f"{end - position} of the {size_bytes} bytes of a batch")
    return size_bytes
