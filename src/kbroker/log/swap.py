"""New segments take the place of old ones, so that a crash at any moment leaves a whole log (L8).

    step                                            a start after a crash in it
    ----------------------------------------------  ----------------------------------------------
    the new files are complete, in ``.cleaned``     removes them
    ``.cleaned`` becomes ``.swap``, last one first  removes all from the first ``.cleaned`` on
    old files become ``.deleted``                   removes the old files that a ``.swap`` replaces,
    ``.log.swap`` becomes ``.log``                  and gives the new ones their names
    the same for the indexes                        gives them their names

Between two steps the directory is synced, so no two of them can be mixed up even where a file
system brings names to the platter in another order than they were given.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from kbroker.log import file_names
from kbroker.log.deletion import DeletedSegment, mark_deleted
from kbroker.log.disk import Disk
from kbroker.log.errors import DiskFailed
from kbroker.log.segment import Segment
from kbroker.log.segments import Segments
from kbroker.log.snapshot_files import SnapshotFiles

_INDEXES = tuple(kind for kind in file_names.SEGMENT_KINDS if kind != file_names.LOG)


class Replacement(NamedTuple):
    """A new segment, complete in ``.cleaned`` files, and the neighbours it takes the place of."""

    new: Segment
    old: Sequence[Segment]


def swap_in(
    disk: Disk,
    directory: str,
    segments: Segments,
    snapshots: SnapshotFiles,
    replacements: Sequence[Replacement],
) -> list[DeletedSegment]:
    """Swap all at once, in ``segments`` too; the old files are to be purged later.

    The snapshot of a segment that ends up inside another goes with it. Raises DiskFailed: after
    half a swap, memory and files tell different stories.
    """
    news = [replacement.new for replacement in replacements]
    deleted = []
    try:
        for new, kind in product(reversed(news), file_names.SEGMENT_KINDS):
            _change_fate(disk, new, kind, file_names.CLEANED, file_names.SWAP)
        disk.sync_directory(directory)
        for new, old in replacements:
            for segment in old:
                stays = segment.base_offset == new.base_offset
                deleted.append(mark_deleted(disk, segment, None if stays else snapshots))
        disk.sync_directory(directory)
        for new in news:
            _change_fate(disk, new, file_names.LOG, file_names.SWAP, "")
        disk.sync_directory(directory)
        for new, kind in product(news, _INDEXES):
            _change_fate(disk, new, kind, file_names.SWAP, "")
        disk.sync_directory(directory)
    except OSError as error:
        raise DiskFailed(f"{directory}: half a swap of segments: {error}") from error
    for new, old in replacements:
        number = segments.number_of(new.base_offset)
        segments.replace(number, number + len(old), [new])
    return deleted


def _change_fate(disk: Disk, segment: Segment, kind: str, old: str, new: str) -> None:
    path = segment.path(kind, old)
    if disk.exists(path):
        disk.rename(path, segment.path(kind, new))
