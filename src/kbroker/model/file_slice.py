"""A range of an open file that stands for its bytes.

Fetch answers are header bytes and pieces of segment files. A piece travels from the log to the
socket as one of these, so that the kernel copies it (``sendfile``) and Python never sees it.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileSlice:
    """``length`` bytes of the file behind ``file_descriptor``, from ``position`` on.

    Whoever makes a slice keeps the file open until the slice is sent or dropped.
    """

    file_descriptor: int
    position: int
    length: int

    def __len__(self) -> int:
        return self.length
