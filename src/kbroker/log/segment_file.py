"""The open ``.log`` file of a segment, and the batches in it.

A `SegmentFile` owns its descriptor. Whoever reads from it holds a reference (a FileSlice does so
as its ``keeper``), and the descriptor is closed when the last one is gone: a segment can be
deleted under a slow reader, and its number is not given to another file meanwhile.
"""

import re
from collections.abc import Iterator

from kbroker.log.disk import Disk
from kbroker.records import (
    HEADER_BYTES,
    BatchHeader,
    CorruptRecords,
    TruncatedRecords,
    crc_matches,
    read_header,
    scan_batches,
)
from kbroker.records.header import MAGIC_POSITION

# One read takes in the headers of all small batches between two index entries.
_HEADERS_CHUNK_BYTES = 4096
# Recovery and replay read whole batches, in pieces of this size or of one batch.
_BATCHES_CHUNK_BYTES = 1 << 20


def _beginnings(offsets: range) -> re.Pattern[bytes]:
    """What finds the bytes that may begin a batch with one of ``offsets``.

    Segments can be a gigabyte of noise. The upper half of a base offset and the magic leave few
    places to look at.
    """
    halves = {offset >> 32 for offset in offsets[:: len(offsets) - 1 or 1]}
    upper = b"|".join(re.escape(half.to_bytes(4, "big")) for half in sorted(halves))
    between = MAGIC_POSITION - 4
    return re.compile(b"(?:%b).{%d}\x02" % (upper, between), re.DOTALL)


class SegmentFile:
    """A descriptor of the batches from ``base_offset`` on; opened for appending or reading."""

    __slots__ = ("_disk", "base_offset", "file_descriptor")

    def __init__(self, disk: Disk, path: str, base_offset: int) -> None:
        self.file_descriptor = -1
        self._disk = disk
        self.base_offset = base_offset
        self.file_descriptor = disk.open_appending(path)

    def __del__(self) -> None:
        if self.file_descriptor >= 0:
            self._disk.close(self.file_descriptor)
            self.file_descriptor = -1

    def read(self, position: int, length: int) -> bytes:
        """Bytes from ``position`` on; fewer than ``length`` where the file ends."""
        return self._disk.read(self.file_descriptor, length, position)

    def truncate(self, size_bytes: int) -> None:
        """Cut the file off behind ``size_bytes``."""
        self._disk.truncate(self.file_descriptor, size_bytes)

    def sync(self) -> None:
        """Bring the bytes to the platter; DiskFailed if that did not work."""
        self._disk.sync(self.file_descriptor)

    def headers(self, position: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
        """Positions and headers of the batches from ``position`` to ``end``; records are skipped.

        Raises CorruptRecords where no batch begins or one goes on behind ``end``.
        """
        chunk = b""
        chunk_position = position
        while position < end:
            relative = position - chunk_position
            if relative + HEADER_BYTES > len(chunk):
                chunk = self.read(position, min(_HEADERS_CHUNK_BYTES, end - position))
                chunk_position = position
                relative = 0
            header = read_header(chunk, relative)
            size_bytes = header.size_bytes
            if header.magic != 2 or size_bytes < HEADER_BYTES:
                raise CorruptRecords(f"no batch at position {position}")
            if position + size_bytes > end:
                raise TruncatedRecords(f"the batch at position {position} goes on behind {end}")
            yield position, header
            position += size_bytes

    def find_batch(self, position: int, end: int, offsets: range) -> int | None:
        """Where behind damaged bytes the next sound batch begins; None if there is none.

        It is one whose offsets are within ``offsets`` and whose CRC matches, so that what looks
        like a batch in the middle of records is not taken for one, short of a forged one.
        """
        likely = _beginnings(offsets)
        while offsets and position + HEADER_BYTES <= end:
            chunk = self.read(position, min(_BATCHES_CHUNK_BYTES, end - position))
            last = len(chunk) - HEADER_BYTES
            # Damage is often a page of zeros; a batch has something else in its magic, at least.
            zeros = len(chunk) - len(chunk.lstrip(b"\0"))
            match = likely.search(chunk, max(0, zeros - MAGIC_POSITION))
            while match is not None and match.start() <= last:
                start = match.start()
                if self._is_sound(position + start, end, read_header(chunk, start), offsets):
                    return position + start
                match = likely.search(chunk, start + 1)
            position += max(last + 1, 1)
        return None

    def _is_sound(self, position: int, end: int, header: BatchHeader, offsets: range) -> bool:
        size_bytes = header.size_bytes
        if not HEADER_BYTES <= size_bytes <= end - position or header.last_offset_delta < 0:
            return False
        if header.base_offset not in offsets or header.last_offset not in offsets:
            return False
        return crc_matches(self.read(position, size_bytes), 0, header)

    def headers_over_damage(
        self, position: int, end: int, offsets: range
    ) -> Iterator[tuple[int, BatchHeader]]:
        """As `headers`, but what cannot be read is stepped over: to the next sound batch."""
        while position < end:
            try:
                for start, header in self.headers(position, end):
                    if header.base_offset not in offsets or header.last_offset not in offsets:
                        raise CorruptRecords(f"offset {header.base_offset} at position {start}")
                    yield start, header
                    position = start + header.size_bytes
                    offsets = range(header.next_offset, offsets.stop)
            except CorruptRecords:
                found = self.find_batch(position, end, offsets)
                if found is None:
                    return
                position = found

    def batches(self, position: int, end: int) -> Iterator[tuple[int, BatchHeader, memoryview]]:
        """Positions, headers and bytes of the batches from ``position`` to ``end``.

        CRCs are not checked. Raises as `headers` does, after it yielded all that is sound.
        """
        length = _BATCHES_CHUNK_BYTES
        while position < end:
            view = memoryview(self.read(position, min(length, end - position)))
            used = 0
            try:
                for start, header in scan_batches(view):
                    used = start + header.size_bytes
                    yield position + start, header, view[start:used]
            except TruncatedRecords:
                if position + len(view) >= end:
                    raise
            if used:
                length = _BATCHES_CHUNK_BYTES
            else:  # a batch longer than the chunk, or a file shorter than its end
                needed = read_header(view).size_bytes
                if needed <= len(view) or len(view) < length or position + needed > end:
                    raise TruncatedRecords(f"the file ends behind position {position}")
                length = needed
            position += used
