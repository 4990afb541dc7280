"""The ``.timeindex`` file of a segment: from timestamps to offsets.

An entry of twelve bytes, timestamp T and relative offset o, says that no batch up to o holds a
timestamp above T, and that T occurs in the batch that ends at o. Both rise from entry to entry;
a batch that is older than one before it gets no entry. The last entry, written when the segment
is closed, is the largest timestamp of all: retention by time reads nothing else.
"""

from array import array
from bisect import bisect_left, bisect_right
from struct import Struct
from typing import NamedTuple, Self

from kbroker.log.disk import Disk
from kbroker.records import NO_TIMESTAMP

_ENTRY = Struct(">qi")
ENTRY_BYTES = _ENTRY.size


class TimeEntry(NamedTuple):
    """The largest timestamp so far, and the last offset of its batch from the base offset on."""

    timestamp_ms: int
    relative_offset: int


NO_ENTRY = TimeEntry(NO_TIMESTAMP, 0)


class TimeIndex:
    """The entries of one segment, in memory."""

    __slots__ = ("_offsets", "_saved", "_timestamps")

    def __init__(self) -> None:
        self._timestamps = array("q")
        self._offsets = array("i")
        self._saved = 0  # how many entries the file holds

    def __len__(self) -> int:
        return len(self._timestamps)

    @classmethod
    def load(cls, disk: Disk, path: str) -> Self:
        """The entries of a file; FileNotFoundError, or ValueError if it holds no such entries."""
        data = disk.read_file(path)
        if len(data) % ENTRY_BYTES:
            raise ValueError(f"{len(data)} bytes are no whole number of time index entries")
        index = cls()
        for timestamp_ms, relative_offset in _ENTRY.iter_unpack(data):
            index._timestamps.append(timestamp_ms)
            index._offsets.append(relative_offset)
        index._saved = len(index)
        if len(index) > 1 and index._timestamps[-1] <= index._timestamps[0]:
            raise ValueError("the timestamps do not rise")
        if len(index) and index._offsets[-1] < 0:
            raise ValueError("an entry before the base offset")
        return index

    def save(self, disk: Disk, path: str) -> None:
        """Write the entries that the file does not hold yet; creates an empty file too."""
        file_descriptor = disk.open_appending(path, create=True)
        try:
            disk.truncate(file_descriptor, self._saved * ENTRY_BYTES)
            if len(self) > self._saved:
                entries = zip(
                    self._timestamps[self._saved :], self._offsets[self._saved :], strict=True
                )
                disk.write_all(file_descriptor, b"".join(_ENTRY.pack(*entry) for entry in entries))
        finally:
            disk.close(file_descriptor)
        self._saved = len(self)

    def append(self, timestamp_ms: int, relative_offset: int) -> None:
        """Add an entry, unless there is one with this or a larger timestamp."""
        if timestamp_ms > self.last_entry().timestamp_ms:
            self._timestamps.append(timestamp_ms)
            self._offsets.append(relative_offset)

    def last_entry(self) -> TimeEntry:
        """The largest timestamp and where it is; `NO_ENTRY` without entries."""
        if not self._timestamps:
            return NO_ENTRY
        return TimeEntry(self._timestamps[-1], self._offsets[-1])

    def lookup(self, timestamp_ms: int) -> TimeEntry:
        """The last entry at or before a timestamp; `NO_ENTRY` if all are later."""
        slot = bisect_right(self._timestamps, timestamp_ms)
        return TimeEntry(self._timestamps[slot - 1], self._offsets[slot - 1]) if slot else NO_ENTRY

    def truncate(self, relative_offset: int) -> None:
        """Drop the entries at and behind an offset."""
        slot = bisect_left(self._offsets, relative_offset)
        del self._timestamps[slot:]
        del self._offsets[slot:]
        self._saved = min(self._saved, slot)


def read_last_entry(disk: Disk, path: str, size_bytes: int) -> TimeEntry:
    """The last entry of a file of ``size_bytes`` without loading it; `NO_ENTRY` if it is empty.

    ValueError if it is not later than the first, as `TimeIndex.load` has it.
    """
    if size_bytes < ENTRY_BYTES:
        return NO_ENTRY
    last_position = size_bytes // ENTRY_BYTES * ENTRY_BYTES - ENTRY_BYTES
    file_descriptor = disk.open_reading(path)
    try:
        first = disk.read(file_descriptor, ENTRY_BYTES, 0)
        last = disk.read(file_descriptor, ENTRY_BYTES, last_position)
    finally:
        disk.close(file_descriptor)
    if len(first) != ENTRY_BYTES or len(last) != ENTRY_BYTES:
        raise ValueError("the time index is shorter than it was")
    entry = TimeEntry(*_ENTRY.unpack(last))
    if last_position and entry.timestamp_ms <= TimeEntry(*_ENTRY.unpack(first)).timestamp_ms:
        raise ValueError("the timestamps do not rise")
    return entry
