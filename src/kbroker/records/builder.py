"""Batches from records: for brokers' own topics, for markers, for compaction, for tests.

`build_batch` makes a new batch, `rebuild_batch` makes one that takes the place of another in the
log with some or all of its records gone. A batch keeps its base offset, last offset and sequence
when it loses records (C2): replication, consumers' positions and duplicate detection hang on them.
"""

from collections.abc import Sequence
from struct import Struct

from crc32c import crc32c

from kbroker.records.compression import compress
from kbroker.records.header import (
    CHECKED_POSITION,
    COMPRESSION_MASK,
    CONTROL_BIT,
    CRC_POSITION,
    CURRENT_MAGIC,
    DELETE_HORIZON_BIT,
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME_BIT,
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Compression,
)
from kbroker.records.record import Header, Record
from kbroker.records.varint import encode_varint

# Most lengths and deltas are small, and looking up is four times faster than encoding.
_SMALL_VARINTS = tuple(encode_varint(number) for number in range(1024))
_SMALL_COUNT = len(_SMALL_VARINTS)
_NULL = encode_varint(-1)
_NO_HEADERS = encode_varint(0)
# The two parts of a header: what the CRC does not cover, and what it covers.
_UNCHECKED_HEADER = Struct(">qiibI")
_CHECKED_HEADER = Struct(">hiqqqhii")
assert _UNCHECKED_HEADER.size == CHECKED_POSITION
assert _CHECKED_HEADER.size == HEADER_BYTES - CHECKED_POSITION


def build_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    last_offset: int | None = None,
    leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
    compression: Compression = Compression.NONE,
    compression_level: int | None = None,
    log_append_time_ms: int | None = None,
    delete_horizon_ms: int | None = None,
    max_timestamp_ms: int | None = None,
) -> bytearray:
    """A batch of ``records``, whose offsets rise from ``base_offset`` on, gaps allowed.

    ``last_offset`` is that of the last record unless told. ``log_append_time_ms`` takes the place
    of all timestamps; ``max_timestamp_ms`` is the records' own unless told, and must be told for
    a batch without records if it shall keep one.
    """
    if last_offset is None:
        last_offset = records[-1].offset if records else base_offset
    attributes = (
        compression
        | (LOG_APPEND_TIME_BIT if log_append_time_ms is not None else 0)
        | (TRANSACTIONAL_BIT if is_transactional else 0)
        | (CONTROL_BIT if is_control else 0)
        | (DELETE_HORIZON_BIT if delete_horizon_ms is not None else 0)
    )
    if log_append_time_ms is not None:
        max_timestamp_ms = log_append_time_ms
    elif max_timestamp_ms is None:
        max_timestamp_ms = max((record.timestamp_ms for record in records), default=NO_TIMESTAMP)
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        partition_leader_epoch=leader_epoch,
        magic=CURRENT_MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=last_offset - base_offset,
        base_timestamp_ms=_base_timestamp_ms(records, delete_horizon_ms),
        max_timestamp_ms=max_timestamp_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    return _assemble(header, records, compression_level)


def build_own_batch(
    pairs: Sequence[tuple[bytes, bytes | None]],
    *,
    timestamp_ms: int,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    is_transactional: bool = False,
) -> bytearray:
    """What `build_batch` makes of keys and values written at one moment, only faster.

    Coordinators write such a batch for nearly every request. There is at least one pair.
    """
    pieces = [b""]
    for number, (key, value) in enumerate(pairs):
        delta = _varint(number)
        key_length = _varint(len(key))
        value_length = _NULL if value is None else _varint(len(value))
        tail = value or b""
        size = len(delta) + len(key_length) + len(key) + len(value_length) + len(tail)
        # No attributes, no time since the first one; and no headers at the end.
        pieces += (_varint(size + 3), b"\x00\x00", delta, key_length, key, value_length, tail)
        pieces.append(_NO_HEADERS)
    pieces[0] = _CHECKED_HEADER.pack(
        TRANSACTIONAL_BIT if is_transactional else 0,
        len(pairs) - 1,
        timestamp_ms,
        timestamp_ms,
        producer_id,
        producer_epoch,
        NO_SEQUENCE,
        len(pairs),
    )
    checked = b"".join(pieces)
    length = CHECKED_POSITION + len(checked) - LENGTH_OVERHEAD_BYTES
    batch = bytearray(
        _UNCHECKED_HEADER.pack(0, length, NO_LEADER_EPOCH, CURRENT_MAGIC, crc32c(checked))
    )
    batch += checked
    return batch


def rebuild_batch(
    original: BatchHeader, records: Sequence[Record], *, delete_horizon_ms: int | None = None
) -> bytearray:
    """The batch of ``original`` with only ``records`` left in it, possibly none.

    ``delete_horizon_ms`` sets a horizon; one that is there already stays when none is given.
    Without records the batch is a bare header, as compaction leaves for the last batch of a
    producer: nothing to unpack, no horizon, the max timestamp it had.
    """
    attributes = original.attributes
    max_timestamp_ms = original.max_timestamp_ms
    if not records:
        attributes &= ~(COMPRESSION_MASK | DELETE_HORIZON_BIT)
        delete_horizon_ms = None
    else:
        if delete_horizon_ms is not None:
            attributes |= DELETE_HORIZON_BIT
        elif original.has_delete_horizon:
            delete_horizon_ms = original.base_timestamp_ms
        if not original.is_log_append_time:
            max_timestamp_ms = max(record.timestamp_ms for record in records)
    header = original._replace(
        attributes=attributes,
        base_timestamp_ms=_base_timestamp_ms(records, delete_horizon_ms),
        max_timestamp_ms=max_timestamp_ms,
        record_count=len(records),
    )
    return _assemble(header, records, None)


def _base_timestamp_ms(records: Sequence[Record], delete_horizon_ms: int | None) -> int:
    """Where timestamp deltas count from: the horizon if there is one, else the first record's."""
    if delete_horizon_ms is not None:
        return delete_horizon_ms
    return records[0].timestamp_ms if records else NO_TIMESTAMP


def _assemble(
    header: BatchHeader, records: Sequence[Record], compression_level: int | None
) -> bytearray:
    """Header and records as bytes, with length and CRC filled in."""
    payload = encode_records(records, header.base_offset, header.base_timestamp_ms)
    if records and header.compression is not Compression.NONE:
        payload = compress(header.compression, payload, compression_level)
    size_bytes = HEADER_BYTES + len(payload)
    batch = bytearray(
        HEADER.pack(*header._replace(batch_length=size_bytes - LENGTH_OVERHEAD_BYTES))
    )
    batch += payload
    crc = crc32c(memoryview(batch)[CHECKED_POSITION:])
    batch[CRC_POSITION:CHECKED_POSITION] = crc.to_bytes(4, "big")
    return batch


def encode_records(records: Sequence[Record], base_offset: int, base_timestamp_ms: int) -> bytes:
    """The records one after another, counted from the two bases, not compressed."""
    pieces: list[bytes] = []
    for record in records:
        key = record.key
        value = record.value
        headers = record.headers
        body = b"".join(
            (
                b"\x00",  # attributes, of which records have none
                _varint(record.timestamp_ms - base_timestamp_ms),
                _varint(record.offset - base_offset),
                _NULL if key is None else _varint(len(key)),
                key or b"",
                _NULL if value is None else _varint(len(value)),
                value or b"",
                _encode_headers(headers) if headers else _NO_HEADERS,
            )
        )
        pieces.append(_varint(len(body)))
        pieces.append(body)
    return b"".join(pieces)


def _varint(number: int) -> bytes:
    if 0 <= number < _SMALL_COUNT:
        return _SMALL_VARINTS[number]
    return encode_varint(number)


def _encode_headers(headers: Sequence[Header]) -> bytes:
    pieces = [_varint(len(headers))]
    for key, value in headers:
        key_bytes = key.encode("utf-8", "surrogateescape")
        pieces.append(_varint(len(key_bytes)))
        pieces.append(key_bytes)
        if value is None:
            pieces.append(_NULL)
        else:
            pieces.append(_varint(len(value)))
            pieces.append(value)
    return b"".join(pieces)
