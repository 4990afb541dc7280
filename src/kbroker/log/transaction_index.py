"""The ``.txnindex`` file of a segment: the aborted transactions whose marker lies in it.

A consumer with read_committed must skip the records of aborted transactions, so its fetch carries
all that overlap with what it gets (T10). An entry of 34 bytes: version 0, producer id, first
offset, last offset (that of the marker), and the last stable offset at that moment. The last one
tells a search when to stop: no transaction that begins before it is still to be aborted.

The file exists only if there are entries. Aborts are rare, so each is written at once.
"""

from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple, Self

from kbroker.log.disk import Disk
from kbroker.log.errors import StorageError

_ENTRY = Struct(">hqqqq")
ENTRY_BYTES = _ENTRY.size
_VERSION = 0


class AbortedEntry(NamedTuple):
    """One aborted transaction, from its first record to its marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """The aborted transactions of one segment, in memory and in its file."""

    __slots__ = ("_disk", "_path", "entries")

    def __init__(self, disk: Disk, path: str, entries: Iterable[AbortedEntry] = ()) -> None:
        self._disk = disk
        self._path = path
        self.entries = list(entries)

    @classmethod
    def load(cls, disk: Disk, path: str) -> Self:
        """The entries of a file, none if there is no file; ValueError if it holds others."""
        try:
            data = disk.read_file(path)
        except FileNotFoundError:
            return cls(disk, path)
        if len(data) % ENTRY_BYTES:
            raise ValueError(f"{len(data)} bytes are no whole number of aborted transactions")
        rows = list(_ENTRY.iter_unpack(data))
        if any(row[0] > _VERSION for row in rows):
            raise ValueError("an aborted transaction of a later version")
        return cls(disk, path, (AbortedEntry(*row[1:]) for row in rows))

    def append(self, entry: AbortedEntry) -> None:
        """Add an entry to the file; StorageError, and no entry, if the disk does not take it."""
        data = _ENTRY.pack(_VERSION, *entry)
        size_bytes = len(self.entries) * ENTRY_BYTES
        try:
            file_descriptor = self._disk.open_appending(self._path, create=True)
            try:
                self._disk.truncate(file_descriptor, size_bytes)  # what a failure left behind
                self._disk.write_all(file_descriptor, data)
            finally:
                self._disk.close(file_descriptor)
        except OSError as error:
            raise StorageError(f"{self._path}: {error}") from error
        self.entries.append(entry)

    def rewrite(self, entries: Iterable[AbortedEntry]) -> None:
        """Let these be all entries; without any, the file goes."""
        self.entries = list(entries)
        if self.entries:
            data = b"".join(_ENTRY.pack(_VERSION, *entry) for entry in self.entries)
            self._disk.write_file(self._path, data, sync=False)
        else:
            self._disk.unlink(self._path)

    def truncate(self, offset: int) -> None:
        """Drop the transactions whose marker lies at or behind ``offset``."""
        kept = [entry for entry in self.entries if entry.last_offset < offset]
        if len(kept) < len(self.entries):
            self.rewrite(kept)

    def overlapping(self, start_offset: int, end_offset: int) -> tuple[list[AbortedEntry], bool]:
        """The transactions with records in the range, and whether no later segment has more."""
        found = []
        for entry in self.entries:
            if entry.last_offset >= start_offset and entry.first_offset < end_offset:
                found.append(entry)
            if entry.last_stable_offset >= end_offset:
                return found, True
        return found, False
