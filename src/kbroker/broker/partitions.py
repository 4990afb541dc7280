"""All partitions of this broker: found by name or id, opened and closed as the image says.

A partition is served when its log is open. Between the moment the image knows a partition and the
moment its log is open, asking for it gives NOT_LEADER_OR_FOLLOWER, which clients try again.
Logs are opened and deleted in a thread: both wait for the disk.
"""

from collections.abc import Callable, Iterable

import trio

from kbroker.broker.clock import Clock
from kbroker.broker.data_directory import DataDirectory
from kbroker.broker.disk_threads import in_threads
from kbroker.broker.partition import FlushRequester, Partition
from kbroker.cluster import (
    ClusterImage,
    Decision,
    FoundTopic,
    ImageDelta,
    PartitionImage,
    TopicImage,
    adopt_topics,
)
from kbroker.config import BrokerConfig, TopicConfig
from kbroker.log import DeletedDirectory, LogError, PartitionLog
from kbroker.model import ZERO_UUID, TopicPartition, Uuid
from kbroker.telemetry.log_lines import get_logger
from kbroker.wire.error_codes import ErrorCode

log = get_logger("partitions")


class Partitions:
    """The partitions whose logs are open here."""

    def __init__(self, config: BrokerConfig, clock: Clock) -> None:
        self.config = config
        self.clock = clock
        self.node_id = config.node_id
        self.image = ClusterImage()
        self.flusher: FlushRequester | None = None
        self.directories = [DataDirectory(path) for path in config.log_dirs]
        self._by_name: dict[tuple[str, int], Partition] = {}
        self._by_id: dict[tuple[Uuid, int], Partition] = {}
        self._condemned: list[tuple[float, DeletedDirectory]] = []
        # Topics with logs that could not be opened; held while logs are opened or deleted.
        self._unopened: set[str] = set()
        self._changing = trio.Lock()

    # Finding.

    def find(self, topic: str, index: int) -> tuple[Partition | None, ErrorCode]:
        """The partition, or why it is not served here."""
        partition = self._by_name.get((topic, index))
        if partition is not None:
            return partition, ErrorCode.NONE
        known = self.image.topics.get(topic)
        return None, self._why_not(known, index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def find_by_id(self, topic_id: Uuid, index: int) -> tuple[Partition | None, ErrorCode]:
        """The same, for those who name topics by id (KIP-516)."""
        partition = self._by_id.get((topic_id, index))
        if partition is not None:
            return partition, ErrorCode.NONE
        known = self.image.topic_by_id(topic_id)
        return None, self._why_not(known, index, ErrorCode.UNKNOWN_TOPIC_ID)

    def _why_not(self, topic: TopicImage | None, index: int, unknown: ErrorCode) -> ErrorCode:
        if topic is None:
            return unknown
        if not 0 <= index < len(topic.partitions):
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    def leader_of(self, topic: str, topic_id: Uuid, index: int) -> tuple[int, int] | None:
        """Node id and epoch of a partition's leader, if the image knows it."""
        known = self.image.topics.get(topic)
        if topic_id != ZERO_UUID:
            known = self.image.topic_by_id(topic_id)
        if known is None or not 0 <= index < len(known.partitions):
            return None
        partition = known.partitions[index]
        return partition.leader, partition.leader_epoch

    def all(self) -> list[Partition]:
        """Every partition that is open now."""
        return list(self._by_name.values())

    def highest_producer_id(self) -> int:
        """The highest producer id that any log knows, -1 if none does."""
        ids = (each.producer_id for one in self.all() for each in one.log.active_producers())
        return max(ids, default=-1)

    def of_topic(self, topic: str) -> list[Partition]:
        """The open partitions of one topic."""
        known = self.image.topics.get(topic)
        count = len(known.partitions) if known is not None else 0
        found = (self._by_name.get((topic, index)) for index in range(count))
        return [partition for partition in found if partition is not None]

    # Starting.

    def stored_cluster_id(self) -> str | None:
        """The cluster that the data directories say they belong to, if any does."""
        return next((each.cluster_id for each in self.directories if each.cluster_id), None)

    def claim_directories(self, cluster_id: str, node_id: int) -> None:
        """Write into every directory whose it is; LogError if it is somebody else's."""
        for directory in self.directories:
            directory.claim(cluster_id, node_id)

    def adoption(self, node_id: int) -> Callable[[ClusterImage], Decision[None]] | None:
        """A decision that makes topics of the partitions another broker left in our directories."""
        found: dict[str, FoundTopic] = {}
        for directory in self.directories:
            for (name, number), topic_id, leader_epoch in directory.found_partitions():
                topic = found.setdefault(name, FoundTopic(name, topic_id))
                if topic.topic_id == topic_id:
                    topic.leader_epochs[number] = leader_epoch
        if not found:
            return None
        log.info("taking in the topics of the data directory", topics=len(found))
        return lambda image: adopt_topics(image, found.values(), node_id=node_id)

    @property
    def was_clean(self) -> bool:
        """Whether every directory was left in good order."""
        return all(directory.was_clean for directory in self.directories)

    async def load(self) -> None:
        """Open the logs of all partitions that the image gives us."""
        await self._open_all(self._missing(self.image.topics.values()))

    async def follow(self, delta: ImageDelta) -> None:
        """Open, delete and change partitions as the image did."""
        async with self._changing:
            for topic in delta.deleted.values():
                await self._delete_topic(topic)
            await self._open_all(self._missing([*delta.created.values(), *delta.changed.values()]))
        for topic in delta.changed.values():
            self._follow_topic(topic)

    async def open_unopened(self) -> None:
        """Try again what could not be opened: a disk that was full may have room now (L10)."""
        if not self._unopened:
            return
        async with self._changing:
            names, self._unopened = self._unopened, set()
            found = (self.image.topics.get(name) for name in names)
            await self._open_all(self._missing(topic for topic in found if topic is not None))

    def _missing(
        self, topics: Iterable[TopicImage]
    ) -> list[tuple[TopicImage, PartitionImage, TopicConfig]]:
        return [
            (topic, partition, config)
            for topic in topics
            for config in (TopicConfig.of(self.config, topic.configs),)
            for partition in topic.partitions
            if self.node_id in partition.replicas
            and (topic.topic_id, partition.partition) not in self._by_id
        ]

    async def _open_all(self, wanted: list[tuple[TopicImage, PartitionImage, TopicConfig]]) -> None:
        if not wanted:
            return
        now_ms = self.clock.timestamp_ms()
        logs = await trio.to_thread.run_sync(self._open_logs, wanted, now_ms)
        assert self.flusher is not None
        for (topic, image, _), opened in zip(wanted, logs, strict=True):
            if isinstance(opened, LogError):
                log.error(
                    "a partition cannot be opened",
                    topic=topic.name,
                    partition=image.partition,
                    reason=str(opened),
                )
                self._unopened.add(topic.name)
                continue
            partition = Partition(opened, leader_epoch=image.leader_epoch, flusher=self.flusher)
            self._by_name[topic.name, image.partition] = partition
            self._by_id[topic.topic_id, image.partition] = partition

    def _open_logs(
        self, wanted: list[tuple[TopicImage, PartitionImage, TopicConfig]], now_ms: int
    ) -> list[PartitionLog | LogError]:
        """Runs in a thread; nobody else has these logs yet."""
        expiration_ms = self.config.get_int("producer.id.expiration.ms")

        def open_one(
            place: tuple[DataDirectory, TopicPartition, Uuid, TopicConfig],
        ) -> PartitionLog | LogError:
            directory, topic_partition, topic_id, config = place
            try:
                return directory.open_log(
                    topic_partition,
                    topic_id,
                    config,
                    now_ms=now_ms,
                    producer_expiration_ms=expiration_ms,
                )
            except LogError as error:
                return error

        places = []
        for topic, image, config in wanted:
            topic_partition = TopicPartition(topic.name, image.partition)
            directory = self._directory_for(topic_partition)
            directory.partitions.add(topic_partition)  # counts for the choice of the next one
            places.append((directory, topic_partition, topic.topic_id, config))
        return in_threads(open_one, places)

    def _directory_for(self, topic_partition: TopicPartition) -> DataDirectory:
        """Where the partition lies, or the directory with the fewest partitions."""
        for directory in self.directories:
            if topic_partition in directory.partitions:
                return directory
        return min(self.directories, key=lambda directory: len(directory.partitions))

    # Following.

    def _follow_topic(self, topic: TopicImage) -> None:
        config = TopicConfig.of(self.config, topic.configs)
        for image in topic.partitions:
            partition = self._by_id.get((topic.topic_id, image.partition))
            if partition is None:
                continue
            if partition.leader_epoch != image.leader_epoch:
                # The first append under an epoch writes its start to disk before itself (R8).
                partition.leader_epoch = image.leader_epoch
                partition.notify()
            if partition.log.config != config:
                partition.log.config = config
                partition.on_config_changed()

    def refresh_configs(self) -> None:
        """The broker's own configs changed, and with them the defaults of every topic."""
        for topic in self.image.topics.values():
            self._follow_topic(topic)

    async def _delete_topic(self, topic: TopicImage) -> None:
        for image in topic.partitions:
            partition = self._by_id.pop((topic.topic_id, image.partition), None)
            if partition is None:
                continue
            if self._by_name.get((topic.name, image.partition)) is partition:
                del self._by_name[topic.name, image.partition]
            partition.offline = True
            partition.notify()
            directory = self._directory_for(partition.topic_partition)
            condemned = await trio.to_thread.run_sync(directory.delete_log, partition.log)
            delay_s = partition.log.config.file_delete_delay_ms / 1000
            self._condemned.append((self.clock.now() + delay_s, condemned))

    def take_offline(self, partition: Partition, error: LogError) -> None:
        """A flush failed: nothing on that disk can be trusted any more (L6)."""
        path = self._directory_for(partition.topic_partition).path
        log.error("log directory goes offline", directory=path, reason=str(error))
        for each in self.all():
            if self._directory_for(each.topic_partition).path == path:
                each.offline = True
                each.notify()

    # Upkeep and the end.

    async def purge(self, *, now: float) -> None:
        """Remove the directories of deleted partitions whose time has come."""
        due = [directory for at, directory in self._condemned if at <= now]
        if due:
            self._condemned = [entry for entry in self._condemned if entry[0] > now]
            await trio.to_thread.run_sync(_purge, due)

    async def checkpoint(self) -> None:
        """Write recovery points and log start offsets of every directory."""
        for directory in self.directories:
            mine = self._logs_in(directory)
            recovery = {one.topic_partition: one.recovery_point for one in mine}
            starts = {one.topic_partition: one.log_start_offset for one in mine}
            await trio.to_thread.run_sync(directory.write_checkpoints, recovery, starts)

    async def checkpoint_high_watermarks(self) -> None:
        """Write high watermarks of every directory."""
        for directory in self.directories:
            marks = {
                partition.topic_partition: partition.high_watermark
                for partition in self.all()
                if partition.topic_partition in directory.partitions
            }
            await trio.to_thread.run_sync(directory.write_high_watermarks, marks)

    async def checkpoint_cleaner(self) -> None:
        """Write where compaction of each log ended."""
        for directory in self.directories:
            offsets = {
                one.topic_partition: one.first_dirty_offset
                for one in self._logs_in(directory)
                if one.config.compact and one.first_dirty_offset
            }
            await trio.to_thread.run_sync(directory.write_cleaner_offsets, offsets)

    def _logs_in(self, directory: DataDirectory) -> list[PartitionLog]:
        return [
            partition.log
            for partition in self.all()
            if partition.topic_partition in directory.partitions
        ]

    def close(self, broker_epoch: int) -> None:
        """Flush and close all logs, then say that the stop was clean (R17)."""
        for directory in self.directories:
            logs = self._logs_in(directory)
            if any(self._by_name[one.topic_partition].offline for one in logs):
                continue
            marks = {
                one.topic_partition: self._by_name[one.topic_partition].high_watermark
                for one in logs
            }
            try:
                directory.write_high_watermarks(marks)
                directory.close_cleanly(logs, broker_epoch)
            except LogError as error:
                # Nothing that was acknowledged is lost: the next start checks the logs.
                log.error("no clean stop", directory=directory.path, reason=str(error))
        for _, condemned in self._condemned:
            condemned.purge()
        self._condemned.clear()

    def release(self) -> None:
        """Let others use the directories."""
        for directory in self.directories:
            directory.release()


def _purge(directories: list[DeletedDirectory]) -> None:
    for directory in directories:
        directory.purge()
