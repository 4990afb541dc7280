"""The coordinator of all groups whose records lie in partitions that this broker leads.

A group belongs to the partition of ``__consumer_offsets`` that the hash of its id names, and so to
that partition's shard. Shards are loaded when the broker starts, or when their partition comes to
be; until then their groups are told COORDINATOR_LOAD_IN_PROGRESS (G1).
"""

import secrets
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar, cast
from uuid import UUID

import trio

from kbroker.broker.clock import Clock
from kbroker.broker.partition import Partition
from kbroker.broker.partitions import Partitions
from kbroker.broker.requests import Later, RequestContext
from kbroker.broker.shard_driver import Operation, ShardDriver, ShardState
from kbroker.cluster import ClusterImage, ConfigResource, ResourceType
from kbroker.cluster.topic_names import CONSUMER_OFFSETS
from kbroker.config import BrokerConfig, GroupConfig
from kbroker.groups import Caller, GroupSettings, GroupShard
from kbroker.model import Uuid, uuid_to_text
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.message import Message

Answer = TypeVar("Answer", bound=Message)

_JAVA_HASH_MASK = 0xFFFFFFFF


def group_partition(group_id: str, partition_count: int) -> int:
    """The partition of ``__consumer_offsets`` for a group: Java's hash of its id, as in Kafka."""
    code = 0
    units = group_id.encode("utf-16-be", "surrogatepass")
    for position in range(0, len(units), 2):
        unit = units[position] << 8 | units[position + 1]
        code = (31 * code + unit) & _JAVA_HASH_MASK
    if code >= 1 << 31:
        code -= 1 << 32
    # Java's abs of the smallest integer is negative; Kafka makes it zero.
    return (0 if code == -(1 << 31) else abs(code)) % partition_count


class ImageTopics:
    """The topics of the cluster as groups see them."""

    def __init__(self, image: Callable[[], ClusterImage]) -> None:
        self._image = image

    @property
    def revision(self) -> int:
        """Grows whenever something in the cluster changes."""
        return self._image().revision

    def partition_count(self, topic: str) -> int | None:
        """How many partitions a topic has, or None if there is no such topic."""
        known = self._image().topics.get(topic)
        return None if known is None else len(known.partitions)

    def topic_id(self, topic: str) -> Uuid | None:
        """The id of a topic."""
        known = self._image().topics.get(topic)
        return None if known is None else known.topic_id

    def topic_name(self, topic_id: Uuid) -> str | None:
        """The name of a topic."""
        return self._image().topic_names.get(topic_id)

    def names(self) -> Collection[str]:
        """All topics."""
        return self._image().topics.keys()

    def racks(self, topic: str, partition: int) -> frozenset[str]:
        """The racks that hold a replica of a partition."""
        image = self._image()
        known = image.topics.get(topic)
        if known is None or partition >= len(known.partitions):
            return frozenset()
        brokers = (image.brokers.get(node) for node in known.partitions[partition].replicas)
        return frozenset(broker.rack for broker in brokers if broker is not None and broker.rack)


class GroupCoordinator:
    """All shards of this broker, found by group id."""

    def __init__(
        self,
        partitions: Partitions,
        image: Callable[[], ClusterImage],
        config: Callable[[], BrokerConfig],
        create_topics: Callable[[list[str]], Awaitable[object]],
        clock: Clock,
    ) -> None:
        self._partitions = partitions
        self._image = image
        self._config = config
        self._create_topics = create_topics
        self._clock = clock
        self._topics = ImageTopics(image)
        self._drivers: dict[int, ShardDriver] = {}
        self._stopping = False
        self._nursery: trio.Nursery | None = None
        self._wake = trio.Event()
        self._sleeps_until = float("inf")

    # Finding.

    @property
    def partition_count(self) -> int | None:
        """How many shards there are in the cluster; None before the topic exists."""
        topic = self._image().topics.get(CONSUMER_OFFSETS)
        return None if topic is None else len(topic.partitions)

    def leader_of(self, group_id: str) -> int | None:
        """The node that coordinates a group; None if the topic is not there yet."""
        topic = self._image().topics.get(CONSUMER_OFFSETS)
        if topic is None:
            return None
        leader = topic.partitions[group_partition(group_id, len(topic.partitions))].leader
        return leader if leader in self._image().brokers else None

    def driver_of(self, group_id: str) -> ShardDriver | ErrorCode:
        """The shard of a group, or why it cannot be asked."""
        count = self.partition_count
        if count is None or self._stopping:
            return ErrorCode.NOT_COORDINATOR
        driver = self._drivers.get(group_partition(group_id, count))
        if driver is None or driver.state is ShardState.GONE:
            return self._revive(group_partition(group_id, count))
        if driver.state is ShardState.LOADING:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return driver

    def _revive(self, number: int) -> ShardDriver | ErrorCode:
        """A shard that was given up is loaded again, if its partition is still ours."""
        partition, _ = self._partitions.find(CONSUMER_OFFSETS, number)
        if partition is None:
            return ErrorCode.NOT_COORDINATOR
        driver = self._start(partition)
        if driver.state is ShardState.LOADING:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return driver

    def active_shards(self) -> list[GroupShard] | ErrorCode:
        """All shards, for those who list groups; an error while one of them is loading."""
        if any(driver.state is ShardState.LOADING for driver in self._drivers.values()):
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        drivers = self._drivers.values()
        return [driver.shard for driver in drivers if driver.state is ShardState.ACTIVE]

    def _group_config(self, group_id: str) -> GroupConfig | None:
        """What a group has set for itself, or None."""
        overrides = self._image().configs.get(ConfigResource(ResourceType.GROUP, group_id))
        return None if overrides is None else GroupConfig.of(self._config(), overrides)

    # Serving.

    def caller(self, context: RequestContext) -> Caller:
        """Who sends a request, as groups see it."""
        host = f"/{context.connection.peer_host}"
        return Caller(context.client_id, host, context.api_version)

    def perform(
        self, group_id: str, operation: Operation, refuse: Callable[[ErrorCode], Answer]
    ) -> Answer | Later[Answer]:
        """Let the group's shard decide; its answer, now or later, or a refusal."""
        driver = self.driver_of(group_id)
        if isinstance(driver, ErrorCode):
            return refuse(driver)
        # The shard answers a request with the response of its API, which is what it is asked for.
        return cast(Answer | Later[Answer], driver.perform(operation, refuse))

    def new_member_id(self, name: str) -> str:
        """The id of a new member: who it says to be, and something nobody else has."""
        return f"{name}-{UUID(bytes=secrets.token_bytes(16), version=4)}"

    def new_uuid_text(self) -> str:
        """A random uuid in Kafka's base64 form, which members of consumer groups are named by."""
        return uuid_to_text(Uuid(secrets.token_bytes(16)))

    def now(self) -> float:
        """Monotonic seconds."""
        return self._clock.now()

    def timestamp_ms(self) -> int:
        """The wall clock."""
        return self._clock.timestamp_ms()

    # Living.

    def stop(self) -> None:
        """Coordinate nothing any more; whoever waits is told."""
        self._stopping = True
        for driver in self._drivers.values():
            driver.drop()

    async def create_topic(self) -> None:
        """Make the topic that groups live in; nothing happens if that is impossible."""
        await self._create_topics([CONSUMER_OFFSETS])

    def configure(self) -> None:
        """The configs changed."""
        settings = GroupSettings.of(self._config())
        for driver in self._drivers.values():
            driver.shard.configure(settings)

    def follow(self, deleted: Collection[str] = ()) -> None:
        """The image changed: start shards of new partitions, drop those of lost ones.

        ``deleted`` are topics that are gone; nobody shall find their offsets again.
        """
        count = self.partition_count or 0
        for number in range(count):
            partition, _ = self._partitions.find(CONSUMER_OFFSETS, number)
            driver = self._drivers.get(number)
            if driver is not None and driver.partition is not partition:
                driver.drop()
                driver = None
            if driver is None and partition is not None:
                self._start(partition)
        for number in [number for number in self._drivers if number >= count]:
            self._drivers.pop(number).drop()
        for driver in self._drivers.values():
            driver.on_topics_changed(deleted)

    def _start(self, partition: Partition) -> ShardDriver:
        settings = GroupSettings.of(self._config())
        shard = GroupShard(settings, self._topics, self._group_config)
        driver = ShardDriver(partition, shard, self._clock, self._wake_by)
        self._drivers[partition.topic_partition.partition] = driver
        if partition.log.log_end_offset == partition.log.log_start_offset:
            driver.activate()
        elif self._nursery is not None:
            self._nursery.start_soon(driver.load)
        return driver

    async def run(self) -> None:
        """Load shards and call them when their time comes, until cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            for driver in self._drivers.values():
                if driver.state is ShardState.LOADING:
                    nursery.start_soon(driver.load)
            while True:
                self._sleeps_until = self._earliest()
                with trio.move_on_at(self._sleeps_until):
                    await self._wake.wait()
                self._wake = trio.Event()
                now = self._clock.now()
                for driver in tuple(self._drivers.values()):
                    deadline = driver.next_deadline()
                    if deadline is not None and deadline <= now:
                        driver.on_time()
                await trio.lowlevel.checkpoint()

    def _earliest(self) -> float:
        deadlines = (driver.next_deadline() for driver in self._drivers.values())
        return min((at for at in deadlines if at is not None), default=float("inf"))

    def _wake_by(self, deadline: float) -> None:
        """Some shard wants to be called; wake the loop if it would sleep longer than that."""
        if deadline < self._sleeps_until:
            self._wake.set()
