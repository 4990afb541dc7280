"""The snapshot files of a partition: one for each segment, and one where it was closed.

A snapshot at offset o is the state of the producers before o. Rolling a segment takes one, so
that recovery begins with it and replays one segment at most; deleting a segment deletes it.
"""

from bisect import bisect_right, insort
from collections.abc import Iterable

from kbroker.log.disk import Disk
from kbroker.log.file_names import DELETED, SNAPSHOT, file_path
from kbroker.log.producer_entry import ProducerEntry
from kbroker.log.producer_snapshot import decode_snapshot, encode_snapshot


class SnapshotFiles:
    """The offsets that have a snapshot in ``directory``, in rising order."""

    __slots__ = ("_directory", "_disk", "offsets")

    def __init__(self, disk: Disk, directory: str, offsets: Iterable[int]) -> None:
        self._disk = disk
        self._directory = directory
        self.offsets = sorted(offsets)

    def path(self, offset: int, fate: str = "") -> str:
        """The path of the snapshot at ``offset``."""
        return file_path(self._directory, offset, SNAPSHOT, fate)

    def take(self, offset: int, entries: Iterable[ProducerEntry], *, sync: bool) -> None:
        """Write the snapshot at ``offset``; without ``sync`` a crash may spoil it."""
        self._disk.write_file(self.path(offset), encode_snapshot(entries), sync=sync)
        if offset not in self.offsets:
            insort(self.offsets, offset)

    def load_latest(self, up_to: int) -> tuple[int, list[ProducerEntry]] | None:
        """The last snapshot at or before ``up_to``; spoiled ones are removed on the way."""
        for offset in reversed(self.offsets[: bisect_right(self.offsets, up_to)]):
            try:
                return offset, decode_snapshot(self._disk.read_file(self.path(offset)))
            except (FileNotFoundError, ValueError):
                self.remove(offset)
        return None

    def remove(self, offset: int) -> None:
        """Remove one snapshot, if there is one."""
        if offset in self.offsets:
            self.offsets.remove(offset)
            self._disk.unlink(self.path(offset))

    def remove_after(self, offset: int) -> None:
        """Remove the snapshots behind the log end."""
        for stray in self.offsets[bisect_right(self.offsets, offset) :]:
            self.remove(stray)

    def keep(self, base_offsets: Iterable[int]) -> None:
        """Remove those that belong to no segment, but not the last one."""
        for stray in set(self.offsets[:-1]) - set(base_offsets):
            self.remove(stray)

    def mark_deleted(self, offset: int) -> str | None:
        """Rename one for deletion; its new path, or None if there is no such snapshot."""
        if offset not in self.offsets:
            return None
        self.offsets.remove(offset)
        self._disk.rename(self.path(offset), self.path(offset, DELETED))
        return self.path(offset, DELETED)
