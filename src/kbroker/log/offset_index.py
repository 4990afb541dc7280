"""The ``.index`` file of a segment: from offsets to positions in the ``.log`` file.

An entry is eight bytes, the last offset of a batch relative to the segment's base offset and the
position where that batch begins, one entry for every ``index.interval.bytes``. A reader takes the
last entry at or before its offset and walks the batches from there, so an index with missing
entries is slow but never wrong.

Entries are kept in memory while the segment is in use and reach the file when `save` is called;
an index that a crash left behind is built anew from the batches.
"""

from array import array
from bisect import bisect_left, bisect_right
from sys import byteorder
from typing import Self

from kbroker.log.disk import Disk

ENTRY_BYTES = 8

# The beginning of a segment, of which nothing is claimed.
NO_OFFSET_ENTRY = (2**31 - 1, 0)


class OffsetIndex:
    """The entries of one segment, in memory."""

    __slots__ = ("_offsets", "_positions", "_saved")

    def __init__(self) -> None:
        self._offsets = array("i")  # relative to the base offset, rising
        self._positions = array("i")
        self._saved = 0  # how many entries the file holds; those behind them are new

    def __len__(self) -> int:
        return len(self._offsets)

    @classmethod
    def load(cls, disk: Disk, path: str) -> Self:
        """The entries of a file; FileNotFoundError, or ValueError if it holds no such entries."""
        data = disk.read_file(path)
        if len(data) % ENTRY_BYTES:
            raise ValueError(f"{len(data)} bytes are no whole number of index entries")
        numbers = array("i")
        numbers.frombytes(data)
        if byteorder == "little":
            numbers.byteswap()
        index = cls()
        index._offsets = numbers[0::2]
        index._positions = numbers[1::2]
        index._saved = len(index)
        # A page of zeros, which a lost write or a preallocated index leaves, ends low.
        if len(index) > 1 and (
            index._offsets[-1] <= index._offsets[0] or index._positions[-1] <= index._positions[0]
        ):
            raise ValueError("the entries do not rise")
        if len(index) and index._offsets[-1] < 0:
            raise ValueError("an entry before the base offset")
        return index

    def save(self, disk: Disk, path: str) -> None:
        """Write the entries that the file does not hold yet; creates an empty file too."""
        file_descriptor = disk.open_appending(path, create=True)
        try:
            disk.truncate(file_descriptor, self._saved * ENTRY_BYTES)
            if len(self) > self._saved:
                disk.write_all(file_descriptor, self._encode(self._saved))
        finally:
            disk.close(file_descriptor)
        self._saved = len(self)

    def _encode(self, first: int) -> bytes:
        numbers = array("i", bytes((len(self) - first) * ENTRY_BYTES))
        numbers[0::2] = self._offsets[first:]
        numbers[1::2] = self._positions[first:]
        if byteorder == "little":
            numbers.byteswap()
        return numbers.tobytes()

    def append(self, relative_offset: int, position: int) -> None:
        """Add the batch at ``position``, whose last offset is ``relative_offset``."""
        self._offsets.append(relative_offset)
        self._positions.append(position)

    def lookup(self, relative_offset: int) -> int:
        """A position from which the walk to the batch of this offset is short."""
        slot = bisect_right(self._offsets, relative_offset)
        return self._positions[slot - 1] if slot else 0

    def entry_before(self, relative_offset: int) -> tuple[int, int]:
        """The last entry at or before an offset: an offset and a position.

        At the position begins a batch whose base offset is at or before that offset. Without such
        an entry, where the segment begins, which is before everything.
        """
        slot = bisect_right(self._offsets, relative_offset)
        return (self._offsets[slot - 1], self._positions[slot - 1]) if slot else NO_OFFSET_ENTRY

    def upper_bound(self, position: int) -> int | None:
        """The relative offset of the first entry at or behind a position, or None."""
        slot = bisect_left(self._positions, position)
        return self._offsets[slot] if slot < len(self) else None

    def last_position(self) -> int:
        """The position of the last entry; 0, where every segment begins, without entries."""
        return self._positions[-1] if self._positions else 0

    def truncate(self, relative_offset: int) -> None:
        """Drop the entries at and behind an offset."""
        slot = bisect_left(self._offsets, relative_offset)
        del self._offsets[slot:]
        del self._positions[slot:]
        self._saved = min(self._saved, slot)


def read_last_position(disk: Disk, path: str) -> int:
    """The position of the last entry of a file without loading it; 0 if there is none."""
    try:
        size_bytes = disk.size_bytes(path)
        if size_bytes < ENTRY_BYTES:
            return 0
        file_descriptor = disk.open_reading(path)
    except FileNotFoundError:
        return 0
    try:
        data = disk.read(file_descriptor, ENTRY_BYTES, size_bytes // ENTRY_BYTES * ENTRY_BYTES - 8)
    finally:
        disk.close(file_descriptor)
    return int.from_bytes(data[4:], "big", signed=True)
