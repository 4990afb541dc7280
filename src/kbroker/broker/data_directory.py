"""One data directory in use: which partitions lie in it, and what was known when it was left.

`kbroker.log.LogDirectory` reads and writes its files; this class keeps what the broker needs of
them while it runs. Opening, checkpoints and deleting wait for the disk and are called in a thread.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from uuid import uuid4

from kbroker.broker.disk_threads import in_threads
from kbroker.config import TopicConfig
from kbroker.log import (
    REAL_DISK,
    CorruptLog,
    DeletedDirectory,
    LogDirectory,
    MetaProperties,
    PartitionLog,
)
from kbroker.log.leader_epochs import LeaderEpochs
from kbroker.model import TopicPartition, Uuid, uuid_to_text
from kbroker.telemetry.log_lines import get_logger

log = get_logger("directories")


class DataDirectory:
    """A locked data directory and the partitions in it."""

    def __init__(self, path: str) -> None:
        self._files = LogDirectory.open(path)
        self.path = path
        self.was_clean = self._files.was_clean
        self._recovery_points = _read(self._files.read_recovery_points)
        self._log_starts = _read(self._files.read_log_start_offsets)
        self._cleaner_offsets = self._files.read_cleaner_offsets()
        self._found = {each.topic_partition: each for each in self._files.partitions()}
        self.partitions: set[TopicPartition] = set(self._found)
        for gone in self._files.deleted_directories():
            gone.purge()

    @property
    def cluster_id(self) -> str | None:
        """The cluster that the directory belongs to, if it belongs to one."""
        return None if self._files.meta is None else self._files.meta.cluster_id

    @property
    def directory_id(self) -> str:
        """The directory's own id."""
        return "" if self._files.meta is None else self._files.meta.directory_id

    def claim(self, cluster_id: str, node_id: int) -> None:
        """Make the directory ours; CorruptLog if it belongs to another cluster or broker."""
        meta = self._files.meta
        if meta is None:
            directory_id = uuid_to_text(Uuid(uuid4().bytes))
            self._files.write_meta(MetaProperties(cluster_id, node_id, directory_id))
        elif meta.cluster_id != cluster_id:
            raise CorruptLog(
                f"{self.path} belongs to the cluster {meta.cluster_id}, not to {cluster_id}"
            )
        elif meta.node_id != node_id:
            raise CorruptLog(
                f"{self.path} belongs to the broker with node.id {meta.node_id}, not to {node_id}"
            )

    def found_partitions(self) -> Iterator[tuple[TopicPartition, Uuid, int]]:
        """The partitions that lay here at the start, with topic id and latest leader epoch."""
        for each in self._found.values():
            if each.topic_id is not None:
                epochs = LeaderEpochs(REAL_DISK, each.path)
                epochs.load()
                yield each.topic_partition, each.topic_id, epochs.latest

    def open_log(
        self,
        topic_partition: TopicPartition,
        topic_id: Uuid,
        config: TopicConfig,
        *,
        now_ms: int,
        producer_expiration_ms: int,
    ) -> PartitionLog:
        """Open a partition's log, or begin one; raises LogError."""
        opened = PartitionLog.open(
            self._files.partition_path(topic_partition),
            topic_partition=topic_partition,
            topic_id=topic_id,
            config=config,
            recovery_point=self._recovery_points.get(topic_partition, 0),
            log_start_offset=self._log_starts.get(topic_partition, 0),
            clean=self.was_clean and topic_partition in self._found,
            now_ms=now_ms,
            producer_expiration_ms=producer_expiration_ms,
        )
        # A checkpoint behind the log end is from before a crash that cost records.
        first_dirty_offset = self._cleaner_offsets.get(topic_partition, 0)
        if first_dirty_offset <= opened.log_end_offset:
            opened.first_dirty_offset = first_dirty_offset
        self.partitions.add(topic_partition)
        return opened

    def delete_log(self, condemned: PartitionLog) -> DeletedDirectory:
        """Take a partition out; its files are removed later, by `DeletedDirectory.purge`."""
        deleted = condemned.delete_directory(uuid4().hex)
        topic_partition = condemned.topic_partition
        self.partitions.discard(topic_partition)
        # Whoever creates a topic of this name later begins anew.
        self._found.pop(topic_partition, None)
        self._recovery_points.pop(topic_partition, None)
        self._log_starts.pop(topic_partition, None)
        self._cleaner_offsets.pop(topic_partition, None)
        return deleted

    def write_checkpoints(
        self,
        recovery_points: Mapping[TopicPartition, int],
        log_starts: Mapping[TopicPartition, int],
    ) -> None:
        """Replace the recovery points and the log start offsets."""
        self._files.write_recovery_points(recovery_points)
        self._files.write_log_start_offsets(log_starts)

    def write_high_watermarks(self, marks: Mapping[TopicPartition, int]) -> None:
        """Replace the high watermarks."""
        self._files.write_high_watermarks(marks)

    def write_cleaner_offsets(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replace what compaction has seen."""
        self._files.write_cleaner_offsets(offsets)

    def close_cleanly(self, logs: Iterable[PartitionLog], broker_epoch: int) -> None:
        """Close all logs and leave the marker that says so; the last thing we do here (R17)."""
        closed = list(logs)
        in_threads(lambda one: one.close(clean=True), closed)
        self.write_checkpoints(
            {one.topic_partition: one.recovery_point for one in closed},
            {one.topic_partition: one.log_start_offset for one in closed},
        )
        self._files.write_clean_marker(broker_epoch)

    def release(self) -> None:
        """Let another process have the directory."""
        self._files.close()


def _read(
    checkpoint: Callable[[], dict[TopicPartition, int]],
) -> dict[TopicPartition, int]:
    """The offsets in a checkpoint; none if it is damaged, as in Kafka.

    Without recovery points everything is checked at the start, and without log starts a partition
    begins with its first segment; neither is a reason not to serve.
    """
    try:
        return checkpoint()
    except CorruptLog as error:
        log.warning("a checkpoint is damaged and left out", reason=str(error))
        return {}
