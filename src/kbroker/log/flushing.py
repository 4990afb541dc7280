"""One trip to the platter for everything that a log has not flushed yet.

The loop makes the job, a thread runs it, the loop is told. The job holds its own references to
open files, so nothing it needs can be closed or renamed away from it meanwhile.
"""

from collections.abc import Iterable, Sequence

from kbroker.log.disk import Disk
from kbroker.log.segment_file import SegmentFile


class FlushJob:
    """Everything below ``offset``, to be synced in a thread by `run`, once."""

    __slots__ = ("_disk", "_file_descriptors", "_files", "now_ms", "offset", "truncations")

    def __init__(
        self,
        disk: Disk,
        files: Sequence[SegmentFile],
        file_descriptors: Sequence[int],
        *,
        offset: int,
        truncations: int,
        now_ms: int,
    ) -> None:
        self._disk = disk
        self._files = files
        self._file_descriptors = list(file_descriptors)  # owned: indexes, snapshots, directory
        self.offset = offset
        self.truncations = truncations
        self.now_ms = now_ms

    def __del__(self) -> None:
        self._close()

    def run(self) -> None:
        """Sync the files; DiskFailed if one did not reach the platter, and then none did (L6)."""
        try:
            for file_descriptor in self._file_descriptors:
                self._disk.sync(file_descriptor)
            for file in self._files:
                file.sync()
        finally:
            self._close()

    def _close(self) -> None:
        while self._file_descriptors:
            self._disk.close(self._file_descriptors.pop())


def open_for_sync(disk: Disk, directory: str, paths: Iterable[str]) -> list[int]:
    """Descriptors of those of the files that exist, and of their directory."""
    file_descriptors = []
    for path in paths:
        try:
            file_descriptors.append(disk.open_reading(path))
        except FileNotFoundError:
            continue  # no aborted transactions, or a snapshot of a segment that was compacted
    if file_descriptors:
        file_descriptors.append(disk.open_directory(directory))
    return file_descriptors
