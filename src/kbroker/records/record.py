"""One record, and how the records of a batch are read.

    length, attributes (unused), timestamp delta, offset delta,
    key length, key, value length, value,
    header count, then for each: key length, key, value length, value

All numbers but the attributes byte are zigzag varints; a length of -1 is null. Timestamps and
offsets count from those in the batch header.

The bytes come from anyone. Counts are compared with the bytes that remain before anything is
made from them, and bad bytes raise nothing but a RecordsError.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kbroker.records.compression import decompress
from kbroker.records.errors import BatchTooLarge, CorruptRecords, InvalidBatch, TruncatedRecords
from kbroker.records.header import (
    HEADER_BYTES,
    MIN_RECORD_BYTES,
    BatchHeader,
    Buffer,
    Compression,
)
from kbroker.records.limits import DEFAULT_LIMITS, Limits
from kbroker.records.varint import MAX_INT64, decode_varint, decode_varlong

# A key and a value. Keys are text to every client; bytes that are no UTF-8 travel as lone
# surrogates ("surrogateescape"), so that compaction writes back what it read.
Header: TypeAlias = tuple[str, bytes | None]

# A header has two fields of a byte or more each.
MIN_HEADER_BYTES = 2


@dataclass(slots=True)
class Record:
    """What an application wrote, at its place in the log."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


def parse_records(
    buffer: Buffer, header: BatchHeader, position: int = 0, *, limits: Limits = DEFAULT_LIMITS
) -> list[Record]:
    """All records of the batch at ``position``; raises RecordsError as `iterate_records`."""
    return list(iterate_records(buffer, header, position, limits=limits))


def iterate_records(
    buffer: Buffer, header: BatchHeader, position: int = 0, *, limits: Limits = DEFAULT_LIMITS
) -> Iterator[Record]:
    """The records of the batch at ``position``, one by one, decompressed where needed.

    The CRC is not looked at. Raises CorruptRecords for bytes that are no records, BatchTooLarge
    or InvalidBatch for those beyond ``limits``, UnsupportedCompression; possibly after it yielded
    some records.
    """
    if header.record_count == 0:
        return  # all compacted away; Kafka does not look at what may follow either
    data = records_payload(buffer, header, position, limits=limits)
    if not 0 < header.record_count <= len(data) // MIN_RECORD_BYTES:
        raise CorruptRecords(f"{header.record_count} records in {len(data)} bytes")
    try:
        yield from _iterate(data, header, limits)
    except IndexError:
        raise CorruptRecords("a record ends behind its batch") from None


def records_payload(
    buffer: Buffer, header: BatchHeader, position: int = 0, *, limits: Limits = DEFAULT_LIMITS
) -> bytes:
    """The bytes behind the header of the batch at ``position``, unpacked."""
    if header.record_count > limits.max_records:
        raise BatchTooLarge(f"{header.record_count} records in one batch")
    if header.size_bytes < HEADER_BYTES:
        raise CorruptRecords(f"batch length {header.batch_length} is less than its header needs")
    if position + header.size_bytes > len(buffer):
        raise TruncatedRecords(f"the buffer ends inside a batch of {header.size_bytes} bytes")
    packed = memoryview(buffer)[position + HEADER_BYTES : position + header.size_bytes]
    if header.compression is Compression.NONE:
        return bytes(packed)
    return decompress(header.compression, packed, limits)


def _iterate(data: bytes, header: BatchHeader, limits: Limits) -> Iterator[Record]:
    """Read the records of ``data``; IndexError where it ends too early.

    Most varints are one byte, and a call costs more than the rest of the field, so these are read
    in place: a byte without the continuation bit and the sign bit (0x81) is twice the number.
    """
    base_offset = header.base_offset
    base_timestamp_ms = header.base_timestamp_ms
    append_time_ms = header.max_timestamp_ms if header.is_log_append_time else None
    last_delta = -1
    position = 0
    for _ in range(header.record_count):
        if (length := data[position]) & 0x81:
            length, position = decode_varint(data, position)
        else:
            length >>= 1
            position += 1
        record_end = position + length

        position += 1  # the attributes
        if (timestamp_delta := data[position]) & 0x81:
            timestamp_delta, position = decode_varlong(data, position)
        else:
            timestamp_delta >>= 1
            position += 1
        if (offset_delta := data[position]) & 0x81:
            offset_delta, position = decode_varint(data, position)
        else:
            offset_delta >>= 1
            position += 1

        key, position = _nullable_bytes(data, position)
        value, position = _nullable_bytes(data, position)
        headers: tuple[Header, ...] = ()
        if data[position] == 0:
            position += 1
        else:
            headers, position = _headers(data, position, record_end, limits)

        # Slices end silently where the data ends, so this one comparison catches every length
        # that was too long.
        if position != record_end:
            raise CorruptRecords(f"a record of {length} bytes ends {position - record_end} off")
        if offset_delta <= last_delta:
            raise CorruptRecords(f"offset delta {offset_delta} behind {last_delta}")
        last_delta = offset_delta
        timestamp_ms = base_timestamp_ms + timestamp_delta
        if append_time_ms is not None:
            timestamp_ms = append_time_ms
        elif not -MAX_INT64 <= timestamp_ms <= MAX_INT64:
            raise CorruptRecords(f"timestamp {timestamp_ms}")
        yield Record(base_offset + offset_delta, timestamp_ms, key, value, headers)

    if position != len(data):
        raise CorruptRecords(f"{len(data) - position} bytes behind the last record")
    if last_delta > header.last_offset_delta:
        raise CorruptRecords(f"offset delta {last_delta} behind {header.last_offset_delta}")


def _nullable_bytes(data: bytes, position: int) -> tuple[bytes | None, int]:
    """The bytes at ``position`` with their length before them, and the position behind them."""
    if (length := data[position]) & 0x81:
        length, position = decode_varint(data, position)
        if length < 0:
            if length != -1:
                raise CorruptRecords(f"a length of {length}")
            return None, position
    else:
        length >>= 1
        position += 1
    end = position + length
    return data[position:end], end


def _headers(
    data: bytes, position: int, record_end: int, limits: Limits
) -> tuple[tuple[Header, ...], int]:
    """The headers at ``position``, and the position behind them."""
    count, position = decode_varint(data, position)
    if not 0 <= count <= (record_end - position) // MIN_HEADER_BYTES:
        raise CorruptRecords(f"{count} headers in {record_end - position} bytes")
    if count > limits.max_headers:
        raise InvalidBatch(f"{count} headers in one record")
    headers = []
    for _ in range(count):
        key, position = _nullable_bytes(data, position)
        if key is None:
            raise CorruptRecords("a header without a key")
        value, position = _nullable_bytes(data, position)
        headers.append((key.decode("utf-8", "surrogateescape"), value))
    return tuple(headers), position
