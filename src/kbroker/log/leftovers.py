"""What deletions and compaction left unfinished when the broker stopped, brought to its end.

    found                     done
    ------------------------  --------------------------------------------------------------
    .deleted                  removed
    .cleaned                  removed: compaction had not finished writing
    .swap, from the first     removed: not all new files had got that name (KAFKA-6264)
    .cleaned on
    any other .swap           the segments it replaces are removed, and it takes their place

This can be interrupted too: the steps are those of `swap`, with a sync of the directory between
any two that must not be mixed up.
"""

from collections.abc import Iterable, Sequence

from kbroker.log import file_names
from kbroker.log.disk import Disk
from kbroker.log.file_names import FileName, parse_file_name
from kbroker.log.segment_file import SegmentFile


def finish_interrupted_work(disk: Disk, directory: str) -> dict[FileName, int]:
    """The files that are left when deletions and swaps are done, with their sizes.

    CorruptRecords if a new segment cannot be read; it was synced before it got its name.
    """
    sizes = disk.files(directory)
    files = {parsed: sizes[name] for name in sizes if (parsed := parse_file_name(name))}
    if any(name.fate for name in files):
        _Leftovers(disk, directory, files).finish()
    return files


class _Leftovers:
    """The files of one directory, on their way to an order without second suffixes."""

    def __init__(self, disk: Disk, directory: str, files: dict[FileName, int]) -> None:
        self._disk = disk
        self._directory = directory
        self._files = files

    def finish(self) -> None:
        first_cleaned = min((name.offset for name in self._with(file_names.CLEANED)), default=None)
        if first_cleaned is not None:
            # These go first: without the .cleaned beside them they would look complete.
            self._remove(
                name for name in self._with(file_names.SWAP) if name.offset >= first_cleaned
            )
            self._sync()
        self._remove([*self._with(file_names.CLEANED), *self._with(file_names.DELETED)])
        logs = [name for name in self._with(file_names.SWAP) if name.kind == file_names.LOG]
        for name in logs:
            self._remove(self._replaced_by(name))
        self._sync()
        self._rename(logs)
        self._sync()
        self._rename(self._with(file_names.SWAP))
        self._sync()

    def _with(self, fate: str) -> list[FileName]:
        return [name for name in self._files if name.fate == fate]

    def _replaced_by(self, swap: FileName) -> list[FileName]:
        """The files of segments whose records, as far as they stayed, are in ``swap``."""
        file = SegmentFile(self._disk, f"{self._directory}/{swap}", swap.offset)
        end = swap.offset + 1
        for _, header in file.headers(0, self._files[swap]):
            end = header.next_offset
        return [
            name
            for name in self._files
            if not name.fate
            and name.kind in file_names.SEGMENT_KINDS
            and swap.offset <= name.offset < end
        ]

    def _remove(self, names: Iterable[FileName]) -> None:
        for name in names:
            self._disk.unlink(f"{self._directory}/{name}")
            del self._files[name]

    def _rename(self, swaps: Sequence[FileName]) -> None:
        for name in swaps:
            whole = FileName(name.offset, name.kind)
            self._disk.rename(f"{self._directory}/{name}", f"{self._directory}/{whole}")
            self._files[whole] = self._files.pop(name)

    def _sync(self) -> None:
        self._disk.sync_directory(self._directory)
