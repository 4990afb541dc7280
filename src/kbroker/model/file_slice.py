"""A range of an open file that stands for its bytes.

Fetch answers are header bytes and pieces of segment files. A piece travels from the log to the
socket as one of these, so that the kernel copies it (``sendfile``) and Python never sees it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileSlice:
    """``length`` bytes of the file behind ``file_descriptor``, from ``position`` on.

    ``keeper`` owns the descriptor and closes it when nobody refers to it any more. A slice refers
    to it, so a segment can be deleted while a slow client still reads from it, and the number of
    the descriptor cannot be given to another file meanwhile.
    """

    file_descriptor: int
    position: int
    length: int
    keeper: object = None

    def __len__(self) -> int:
        return self.length
