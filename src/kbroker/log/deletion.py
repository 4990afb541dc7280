"""Files on their way out: renamed at once, removed after ``file.delete.delay.ms``.

A crash in between leaves the names with ``.deleted`` (a file) or ``-delete`` (a partition), which
are removed at the next start.
"""

import contextlib
from collections.abc import Sequence

from kbroker.log import file_names
from kbroker.log.disk import Disk
from kbroker.log.segment import Segment
from kbroker.log.snapshot_files import SnapshotFiles

DELETED_DIRECTORY = "-delete"
# What file systems allow; Kafka cuts the topic's part of the name in the same way.
_MAX_NAME_LENGTH = 255


def deleted_directory_name(name: str, unique_id: str) -> str:
    """The name of a partition's directory on its way out."""
    suffix = f".{unique_id}{DELETED_DIRECTORY}"
    return name[: _MAX_NAME_LENGTH - len(suffix)] + suffix


class DeletedSegment:
    """The files of a segment that is no part of the log any more."""

    __slots__ = ("_disk", "_paths", "base_offset", "size_bytes")

    def __init__(self, disk: Disk, base_offset: int, size_bytes: int, paths: Sequence[str]) -> None:
        self._disk = disk
        self.base_offset = base_offset
        self.size_bytes = size_bytes
        self._paths = paths

    def purge(self) -> None:
        """Remove the files; those that are gone already do no harm."""
        for path in self._paths:
            self._disk.unlink(path)


class DeletedDirectory:
    """The directory of a partition that is no more, under its last name."""

    __slots__ = ("_disk", "path")

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self.path = path

    def purge(self) -> None:
        """Remove the directory with all its files."""
        with contextlib.suppress(FileNotFoundError):
            for name in self._disk.files(self.path):
                self._disk.unlink(f"{self.path}/{name}")
            self._disk.remove_directory(self.path)


def mark_deleted(disk: Disk, segment: Segment, snapshots: SnapshotFiles | None) -> DeletedSegment:
    """Rename the files of a segment, and its snapshot unless ``snapshots`` is None."""
    paths = []
    for kind in file_names.SEGMENT_KINDS:
        path = segment.path(kind)
        if disk.exists(path):
            paths.append(segment.path(kind, file_names.DELETED))
            disk.rename(path, paths[-1])
    snapshot = snapshots.mark_deleted(segment.base_offset) if snapshots is not None else None
    if snapshot is not None:
        paths.append(snapshot)
    return DeletedSegment(disk, segment.base_offset, segment.size_bytes, paths)
