"""The ``.snapshot`` file: the producers of a partition as they were before an offset.

    version 1 (int16), CRC-32C of what follows (uint32), count (int32), then for each producer:
    id (int64), epoch (int16), last sequence (int32), last offset (int64), offset delta (int32),
    timestamp (int64), coordinator epoch (int32), first offset of its open transaction (int64)

Of the batches only the last one is kept, so after a restart a duplicate of an earlier one is out
of sequence instead; Kafka is content with that. The CRC tells a snapshot that a crash cut short,
and recovery then goes back to the one before.
"""

from collections.abc import Iterable
from struct import Struct
from struct import error as struct_error

from crc32c import crc32c

from kbroker.log.producer_entry import MAX_SEQUENCE, NO_OFFSET, AppendedBatch, ProducerEntry

_VERSION = 1
_HEAD = Struct(">hIi")
_CHECKED_POSITION = 6
_ENTRY = Struct(">qhiqiqiq")


def encode_snapshot(entries: Iterable[ProducerEntry]) -> bytes:
    """The bytes of a snapshot file."""
    pieces = [_encode_entry(entry) for entry in entries]
    body = len(pieces).to_bytes(4, "big") + b"".join(pieces)
    return _VERSION.to_bytes(2, "big") + crc32c(body).to_bytes(4, "big") + body


def decode_snapshot(data: bytes) -> list[ProducerEntry]:
    """The producers of a snapshot file; ValueError if a crash or a rotten disk spoiled it."""
    try:
        version, crc, count = _HEAD.unpack_from(data)
    except struct_error:
        raise ValueError(f"a snapshot of {len(data)} bytes") from None
    if version != _VERSION:
        raise ValueError(f"a snapshot of version {version}")
    if crc32c(memoryview(data)[_CHECKED_POSITION:]) != crc:
        raise ValueError("the CRC of the snapshot does not match")
    if len(data) != _HEAD.size + count * _ENTRY.size:
        raise ValueError(f"{count} producers in a snapshot of {len(data)} bytes")
    return [_decode_entry(*row) for row in _ENTRY.iter_unpack(memoryview(data)[_HEAD.size :])]


def _encode_entry(entry: ProducerEntry) -> bytes:
    last = entry.batches[-1] if entry.batches else None
    return _ENTRY.pack(
        entry.producer_id,
        entry.producer_epoch,
        entry.last_sequence,
        NO_OFFSET if last is None else last.last_offset,
        0 if last is None else last.last_offset - last.first_offset,
        entry.last_timestamp_ms,
        entry.coordinator_epoch,
        entry.transaction_first_offset,
    )


def _decode_entry(
    producer_id: int,
    producer_epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp_ms: int,
    coordinator_epoch: int,
    transaction_first_offset: int,
) -> ProducerEntry:
    entry = ProducerEntry(producer_id, producer_epoch)
    if last_offset >= 0:
        first_sequence = last_sequence
        if last_sequence >= 0:
            first_sequence = (last_sequence - offset_delta) & MAX_SEQUENCE
        entry.add(
            producer_epoch,
            AppendedBatch(
                first_sequence,
                last_sequence,
                last_offset - offset_delta,
                last_offset,
                timestamp_ms,
            ),
        )
    entry.last_timestamp_ms = timestamp_ms
    entry.coordinator_epoch = coordinator_epoch
    entry.transaction_first_offset = max(NO_OFFSET, transaction_first_offset)
    return entry
