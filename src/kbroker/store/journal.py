"""The bytes of an embedded store's file.

    file    = magic, snapshot frame, transaction frame...
    frame   = length (4), CRC-32 of the payload (4), payload
    payload = revision (8), count (4), record...
    record  = kind (1), key length (4), value length (4), create revision (8), mod revision (8),
              lease (8), key, value

All numbers are big-endian. The first frame holds the whole key space as it was when the file was
written; each later frame is one transaction. A file always begins whole, since it is written
under another name and renamed when it is on disk; so only its tail can be torn, and reading stops
at the first frame that is not sound. Records carry all their revisions: reading needs no rules.

A frame is never empty, so that a tail of zeros, which file systems leave after a power cut, is
not one (the CRC of nothing is zero).
"""

import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kbroker.store.interface import Event, EventKind, KeyValue, StoreDamaged, WatchBatch
from kbroker.store.key_space import KeySpace

MAGIC = b"kbrokerM\x01\x00\x00\x00"

_FRAME = struct.Struct(">II")
_PAYLOAD = struct.Struct(">QI")
_RECORD = struct.Struct(">BIIQQQ")
_PUT = 1
_DELETE = 2


def encode_frame(revision: int, events: Iterable[Event]) -> bytes:
    """One transaction, or one snapshot, as a frame."""
    parts = []
    for event in events:
        item = event.key_value
        key = item.key.encode()
        kind = _PUT if event.kind is EventKind.PUT else _DELETE
        parts.append(
            _RECORD.pack(
                kind,
                len(key),
                len(item.value),
                item.create_revision,
                item.mod_revision,
                item.lease_id,
            )
        )
        parts.append(key)
        parts.append(item.value)
    payload = _PAYLOAD.pack(revision, len(parts) // 3) + b"".join(parts)
    return _FRAME.pack(len(payload), zlib.crc32(payload)) + payload


def encode_file(keys: KeySpace) -> bytes:
    """A file that holds ``keys`` and no transactions yet."""
    events = (Event(EventKind.PUT, item) for item in keys.under(""))
    return MAGIC + encode_frame(keys.revision, events)


@dataclass(frozen=True, slots=True)
class DecodedFile:
    """What a file says, how long its snapshot is, and how many of its bytes are sound."""

    keys: KeySpace
    snapshot_bytes: int
    sound_bytes: int


def decode_file(data: bytes) -> DecodedFile:
    """Read a whole file, up to the first frame that is not sound.

    StoreDamaged if the file does not begin with a snapshot: without it, the transactions that
    follow mean nothing, and an empty store would be a lie.
    """
    if not data.startswith(MAGIC):
        raise StoreDamaged("this is not a kbroker metadata file")
    frames = _sound_frames(data)
    first = next(frames, None)
    if first is None:
        raise StoreDamaged("the snapshot at the beginning of the metadata file is damaged")
    snapshot, snapshot_end = first
    end = snapshot_end
    keys = KeySpace((event.key_value for event in snapshot.events), snapshot.revision)
    for batch, batch_end in frames:
        if batch.revision <= keys.revision:
            break
        keys.replay(batch)
        end = batch_end
    return DecodedFile(keys, snapshot_end, end)


def _sound_frames(data: bytes) -> Iterator[tuple[WatchBatch, int]]:
    view = memoryview(data)
    at = len(MAGIC)
    while at + _FRAME.size <= len(data):
        length, crc = _FRAME.unpack_from(data, at)
        end = at + _FRAME.size + length
        payload = view[at + _FRAME.size : end]
        if length < _PAYLOAD.size or end > len(data) or zlib.crc32(payload) != crc:
            return
        yield _decode_payload(payload), end
        at = end


def _decode_payload(payload: memoryview) -> WatchBatch:
    revision, count = _PAYLOAD.unpack_from(payload)
    at = _PAYLOAD.size
    events = []
    for _ in range(count):
        kind, key_length, value_length, created, modified, lease = _RECORD.unpack_from(payload, at)
        at += _RECORD.size
        key = str(payload[at : at + key_length], "utf-8")
        at += key_length
        value = bytes(payload[at : at + value_length])
        at += value_length
        item = KeyValue(key, value, created, modified, lease)
        events.append(Event(EventKind.PUT if kind == _PUT else EventKind.DELETE, item))
    return WatchBatch(revision, tuple(events))
