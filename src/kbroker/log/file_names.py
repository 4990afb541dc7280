"""The names of the files of a partition, as Kafka's LogFileUtils has them.

    00000000000000000042.log         the batches from offset 42 on
    00000000000000000042.index       offset -> position
    00000000000000000042.timeindex   timestamp -> offset
    00000000000000000042.txnindex    the aborted transactions, if there are any
    00000000000000000042.snapshot    the producers as they were before offset 42

A second suffix says what is about to happen to a file: ``.cleaned`` is being written by
compaction, ``.swap`` is complete and takes the place of others, ``.deleted`` goes away.
"""

from typing import NamedTuple

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"

DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"

SEGMENT_KINDS = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"

_DIGITS = 20


class FileName(NamedTuple):
    """A file name taken apart: the offset, the kind, and what is about to happen to it."""

    offset: int
    kind: str
    fate: str = ""

    def __str__(self) -> str:
        return f"{self.offset:0{_DIGITS}d}{self.kind}{self.fate}"


def parse_file_name(name: str) -> FileName | None:
    """The parts of a name that begins with an offset; None for all other files."""
    digits, dot, rest = name.partition(".")
    if not dot or len(digits) != _DIGITS or not digits.isdecimal():
        return None
    kind, dot, fate = rest.partition(".")
    return FileName(int(digits), "." + kind, dot + fate)


def file_path(directory: str, offset: int, kind: str, fate: str = "") -> str:
    """The path of one file of a partition."""
    return f"{directory}/{offset:0{_DIGITS}d}{kind}{fate}"
