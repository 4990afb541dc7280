"""Kafka's checkpoint files: a version, a count, and that many lines of fields.

    0
    2
    orders 0 1042
    orders 1 977

Four of them lie in every data directory, each with an offset for every partition; the leader
epochs of a partition have one too. They are replaced as a whole, never changed (L5).
"""

from collections.abc import Iterable, Mapping

from kbroker.log.disk import Disk
from kbroker.log.errors import CorruptLog
from kbroker.model import TopicPartition

RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"

_VERSION = "0"


class CheckpointError(ValueError):
    """A checkpoint that nobody could have written on purpose."""


def render_lines(rows: Iterable[Iterable[object]]) -> bytes:
    """The bytes of a checkpoint with these rows."""
    lines = [" ".join(map(str, row)) for row in rows]
    return "\n".join([_VERSION, str(len(lines)), *lines, ""]).encode()


def parse_lines(data: bytes, *, fields: int) -> list[list[str]]:
    """The rows of a checkpoint; CheckpointError if it is not of this shape."""
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise CheckpointError("no text") from None
    if len(lines) < 2 or lines[0] != _VERSION or not lines[1].isdecimal():
        raise CheckpointError("no version and count")
    rows = [line.split() for line in lines[2:]]
    if len(rows) != int(lines[1]) or any(len(row) != fields for row in rows):
        raise CheckpointError(f"{len(rows)} lines instead of {lines[1]}, or lines of other fields")
    return rows


def read_offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    """The offset of each partition; nothing if there is no file, CorruptLog if it is unreadable."""
    try:
        data = disk.read_file(path)
    except FileNotFoundError:
        return {}
    if not data:
        return {}
    try:
        rows = parse_lines(data, fields=3)
        return {TopicPartition(topic, int(partition)): int(o) for topic, partition, o in rows}
    except ValueError as error:
        raise CorruptLog(f"{path}: {error}") from error


def render_offsets(offsets: Mapping[TopicPartition, int]) -> bytes:
    """The bytes of a file with these offsets."""
    return render_lines((topic, number, offset) for (topic, number), offset in offsets.items())
