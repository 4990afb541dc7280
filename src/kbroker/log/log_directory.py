"""One data directory: who may use it, whose it is, how it was left, and what lies in it.

    .lock                              held while a broker uses the directory
    meta.properties                    cluster id, node id, and an id of its own
    .kafka_cleanshutdown               there only after a clean stop; holds the broker epoch
    recovery-point-offset-checkpoint   for each partition, what is known to be flushed
    log-start-offset-checkpoint        for each partition, where it begins after DeleteRecords
    replication-offset-checkpoint      for each partition, its high watermark
    cleaner-offset-checkpoint          for each partition, what compaction has seen
    <topic>-<partition>/               a partition
    <topic>-<partition>.<id>-delete/   one that has been deleted and is still to be removed

The marker of a clean stop is taken away when the directory is opened, before anything else, and
written last of all: whatever ends a broker in between leaves none (R15, R17).
"""

import fcntl
import json
from collections.abc import Mapping
from typing import NamedTuple, Self

from kbroker.log import checkpoints
from kbroker.log.deletion import DELETED_DIRECTORY, DeletedDirectory
from kbroker.log.disk import REAL_DISK, Disk
from kbroker.log.errors import CorruptLog, StorageError
from kbroker.log.partition_metadata import read_partition_metadata
from kbroker.model import TopicPartition, Uuid

_LOCK = ".lock"
_META_PROPERTIES = "meta.properties"
_CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

_META_VERSION = "1"
# Directories that are Kafka's and not ours to serve: copies that move between disks, and strays.
_FOREIGN_SUFFIXES = ("-future", "-stray")


class MetaProperties(NamedTuple):
    """Whose directory it is, as KRaft's Kafka writes it."""

    cluster_id: str
    node_id: int
    directory_id: str


class PartitionDirectory(NamedTuple):
    """A partition that was found, and the topic id in it, if there is one."""

    topic_partition: TopicPartition
    path: str
    topic_id: Uuid | None


class LogDirectory:
    """A data directory that this process holds the lock of."""

    __slots__ = ("_disk", "_lock", "clean_broker_epoch", "meta", "path", "was_clean")

    def __init__(self, path: str, disk: Disk, lock: int) -> None:
        self.path = path
        self._disk = disk
        self._lock = lock
        self.meta = self._read_meta()
        # How the directory was left, and the broker epoch in the marker, -1 without one.
        self.was_clean, self.clean_broker_epoch = self._take_clean_marker()

    @classmethod
    def open(cls, path: str, *, disk: Disk = REAL_DISK) -> Self:
        """Lock the directory, create it if need be, and take its clean shutdown marker.

        Raises StorageError if another process holds it or the disk does not work, CorruptLog if
        its ``meta.properties`` make no sense.
        """
        try:
            disk.make_directory(path)
            lock = disk.open_appending(f"{path}/{_LOCK}", create=True)
        except OSError as error:
            raise StorageError(f"{path}: {error}") from error
        try:
            # The kind of lock Java takes too, so that Apache Kafka keeps out as well.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return cls(path, disk, lock)
        except OSError as error:
            disk.close(lock)
            raise StorageError(f"{path} is in use or broken: {error}") from error
        except CorruptLog:
            disk.close(lock)
            raise

    def close(self) -> None:
        """Give the lock back."""
        if self._lock >= 0:
            self._disk.close(self._lock)
            self._lock = -1

    # Whose it is.

    def _read_meta(self) -> MetaProperties | None:
        try:
            text = self._disk.read_file(f"{self.path}/{_META_PROPERTIES}").decode(
                "utf-8", "replace"
            )
        except FileNotFoundError:
            return None
        lines = (line for line in text.splitlines() if "=" in line and not line.startswith("#"))
        fields = {
            name.strip(): value.strip() for name, _, value in (row.partition("=") for row in lines)
        }
        try:
            if fields["version"] != _META_VERSION:
                raise ValueError(f"version {fields['version']}")
            return MetaProperties(
                fields["cluster.id"], int(fields["node.id"]), fields.get("directory.id", "")
            )
        except (KeyError, ValueError) as error:
            raise CorruptLog(f"{self.path}/{_META_PROPERTIES}: {error}") from error

    def write_meta(self, meta: MetaProperties) -> None:
        """Say whose directory it is, on the platter."""
        lines = (
            "#",
            f"cluster.id={meta.cluster_id}",
            f"directory.id={meta.directory_id}",
            f"node.id={meta.node_id}",
            f"version={_META_VERSION}",
            "",
        )
        self._replace(_META_PROPERTIES, "\n".join(lines).encode())
        self.meta = meta

    # How it was left.

    def _take_clean_marker(self) -> tuple[bool, int]:
        path = f"{self.path}/{_CLEAN_SHUTDOWN}"
        try:
            data = self._disk.read_file(path)
        except FileNotFoundError:
            return False, -1
        self._disk.unlink(path)
        self._disk.sync_directory(self.path)
        try:
            # Kafka before 3.7 leaves an empty file.
            return True, int(json.loads(data)["brokerEpoch"])
        except (ValueError, KeyError, TypeError):
            return True, -1

    def write_clean_marker(self, broker_epoch: int) -> None:
        """Say that every log was closed cleanly; the last thing a broker does here (R17)."""
        content = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
        self._replace(_CLEAN_SHUTDOWN, content.encode())

    # What lies in it.

    def partition_path(self, topic_partition: TopicPartition) -> str:
        """Where the partition lies or shall lie."""
        return f"{self.path}/{topic_partition}"

    def partitions(self) -> list[PartitionDirectory]:
        """The partitions; CorruptLog at a ``partition.metadata`` that makes no sense."""
        found = []
        for name in sorted(self._disk.directories(self.path)):
            topic_partition = parse_directory_name(name)
            if topic_partition is not None:
                path = f"{self.path}/{name}"
                topic_id = read_partition_metadata(self._disk, path)
                found.append(PartitionDirectory(topic_partition, path, topic_id))
        return found

    def deleted_directories(self) -> list[DeletedDirectory]:
        """The partitions that were deleted and not yet removed."""
        return [
            DeletedDirectory(self._disk, f"{self.path}/{name}")
            for name in self._disk.directories(self.path)
            if name.endswith(DELETED_DIRECTORY)
        ]

    def read_recovery_points(self) -> dict[TopicPartition, int]:
        """For each partition, the offset below which everything is flushed."""
        return self._read_offsets(checkpoints.RECOVERY_POINTS)

    def write_recovery_points(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace the recovery points, on the platter."""
        self._write_offsets(checkpoints.RECOVERY_POINTS, offsets)

    def read_log_start_offsets(self) -> dict[TopicPartition, int]:
        """For each partition that does not begin with its first segment, where it begins."""
        return self._read_offsets(checkpoints.LOG_START_OFFSETS)

    def write_log_start_offsets(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace the log start offsets, on the platter."""
        self._write_offsets(checkpoints.LOG_START_OFFSETS, offsets)

    def read_high_watermarks(self) -> dict[TopicPartition, int]:
        """For each partition, its high watermark at some time in the past."""
        return self._read_offsets(checkpoints.HIGH_WATERMARKS)

    def write_high_watermarks(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace the high watermarks, on the platter."""
        self._write_offsets(checkpoints.HIGH_WATERMARKS, offsets)

    def read_cleaner_offsets(self) -> dict[TopicPartition, int]:
        """For each compacted partition, the end of what compaction has seen."""
        return self._read_offsets(checkpoints.CLEANER_OFFSETS)

    def write_cleaner_offsets(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace the cleaner offsets, on the platter."""
        self._write_offsets(checkpoints.CLEANER_OFFSETS, offsets)

    def _read_offsets(self, name: str) -> dict[TopicPartition, int]:
        return checkpoints.read_offsets(self._disk, f"{self.path}/{name}")

    def _write_offsets(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        self._replace(name, checkpoints.render_offsets(offsets))

    def _replace(self, name: str, data: bytes) -> None:
        try:
            self._disk.replace_file(f"{self.path}/{name}", data)
        except OSError as error:
            raise StorageError(f"{self.path}/{name}: {error}") from error


def parse_directory_name(name: str) -> TopicPartition | None:
    """The partition that a directory of this name holds; None if it holds none that is served."""
    topic, dash, number = name.rpartition("-")
    if not dash or not topic or not number.isdecimal() or not number.isascii():
        return None
    if name.endswith((DELETED_DIRECTORY, *_FOREIGN_SUFFIXES)):
        return None
    return TopicPartition(topic, int(number))
