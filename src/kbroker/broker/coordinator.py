"""What the coordinators of groups and of transactions have in common: shards, found by a key.

A key (a group id, a transactional id) belongs to the partition of the coordinator's topic that the
hash of the key names, and so to that partition's shard. Shards are loaded when the broker starts,
or when their partition comes to be; until then whoever asks for one of their keys is told
COORDINATOR_LOAD_IN_PROGRESS (G1).
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection
from functools import lru_cache
from typing import Generic, TypeVar, cast

import trio

from kbroker.broker.clock import Clock
from kbroker.broker.partition import Partition
from kbroker.broker.partitions import Partitions
from kbroker.broker.requests import Later
from kbroker.broker.shard_driver import Producer, ShardDriver, ShardState
from kbroker.cluster import ClusterImage
from kbroker.machine import Outcome, Ticket
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.message import Message

Answer = TypeVar("Answer", bound=Message)
ShardT = TypeVar("ShardT")
StoredT = TypeVar("StoredT")

_JAVA_HASH_MASK = 0xFFFFFFFF
# Groups and transactions send many requests each; a few megabytes of names.
_REMEMBERED_KEYS = 1 << 14


@lru_cache(_REMEMBERED_KEYS)
def partition_of_key(key: str, partition_count: int) -> int:
    """The partition that a key belongs to: Java's hash of it, as in Kafka."""
    code = 0
    units = key.encode("utf-16-be", "surrogatepass")
    for position in range(0, len(units), 2):
        unit = units[position] << 8 | units[position + 1]
        code = (31 * code + unit) & _JAVA_HASH_MASK
    if code >= 1 << 31:
        code -= 1 << 32
    # Java's abs of the smallest integer is negative; Kafka makes it zero.
    return (0 if code == -(1 << 31) else abs(code)) % partition_count


class Coordinator(ABC, Generic[ShardT, StoredT]):
    """All shards of one topic that this broker serves, found by key."""

    def __init__(
        self,
        topic: str,
        partitions: Partitions,
        image: Callable[[], ClusterImage],
        create_topics: Callable[[list[str]], Awaitable[object]],
        clock: Clock,
    ) -> None:
        self._topic = topic
        self._partitions = partitions
        self._image = image
        self._create_topics = create_topics
        self._clock = clock
        self._drivers: dict[int, ShardDriver[ShardT, StoredT]] = {}
        self._stopping = False
        self._nursery: trio.Nursery | None = None
        self._wake = trio.Event()
        self._sleeps_until = float("inf")

    @abstractmethod
    def _new_driver(self, partition: Partition) -> ShardDriver[ShardT, StoredT]:
        """A driver with an empty shard for a partition."""

    # Finding.

    @property
    def partition_count(self) -> int | None:
        """How many shards there are in the cluster; None before the topic exists."""
        topic = self._image().topics.get(self._topic)
        return None if topic is None else len(topic.partitions)

    def leader_of(self, key: str) -> int | None:
        """The node that coordinates a key; None if the topic is not there yet."""
        topic = self._image().topics.get(self._topic)
        if topic is None:
            return None
        leader = topic.partitions[partition_of_key(key, len(topic.partitions))].leader
        return leader if leader in self._image().brokers else None

    def driver_of(self, key: str) -> ShardDriver[ShardT, StoredT] | ErrorCode:
        """The shard of a key, or why it cannot be asked."""
        count = self.partition_count
        if count is None:
            return ErrorCode.NOT_COORDINATOR
        return self.driver_at(partition_of_key(key, count))

    def driver_at(self, number: int) -> ShardDriver[ShardT, StoredT] | ErrorCode:
        """The shard of a partition, or why it cannot be asked."""
        if self._stopping:
            return ErrorCode.NOT_COORDINATOR
        driver = self._drivers.get(number)
        if driver is None or driver.state is ShardState.GONE:
            return self._revive(number)
        if driver.state is ShardState.LOADING:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return driver

    def _revive(self, number: int) -> ShardDriver[ShardT, StoredT] | ErrorCode:
        """A shard that was given up is loaded again, if its partition is still ours."""
        partition, _ = self._partitions.find(self._topic, number)
        if partition is None:
            return ErrorCode.NOT_COORDINATOR
        driver = self._start(partition)
        if driver.state is ShardState.LOADING:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return driver

    def active_shards(self) -> list[ShardT] | ErrorCode:
        """All shards, for those who list what is in them; an error while one of them is loading."""
        if any(driver.state is ShardState.LOADING for driver in self._drivers.values()):
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        drivers = self._drivers.values()
        return [driver.shard for driver in drivers if driver.state is ShardState.ACTIVE]

    # Serving.

    def perform(
        self,
        key: str,
        operation: Callable[[ShardT, Ticket], Outcome[StoredT, Message]],
        refuse: Callable[[ErrorCode], Answer],
        producer: Producer | None = None,
    ) -> Answer | Later[Answer]:
        """Let the key's shard decide; its answer, now or later, or a refusal.

        With a ``producer`` the records become part of its transaction.
        """
        driver = self.driver_of(key)
        if isinstance(driver, ErrorCode):
            return refuse(driver)
        # The shard answers a request with the response of its API, which is what it is asked for.
        # In quotes: to put the type together would take longer than a heartbeat.
        return cast("Answer | Later[Answer]", driver.perform(operation, refuse, producer))

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
        """Make the topic that the shards live in; nothing happens if that is impossible."""
        await self._create_topics([self._topic])

    def follow(self, deleted: Collection[str] = ()) -> None:  # noqa: ARG002 - some want to know
        """The image changed: start shards of new partitions, drop those of lost ones.

        ``deleted`` are the names of topics that are gone.
        """
        count = self.partition_count or 0
        for number in range(count):
            partition, _ = self._partitions.find(self._topic, number)
            driver = self._drivers.get(number)
            if driver is not None and driver.partition is not partition:
                driver.drop()
                driver = None
            if driver is None and partition is not None:
                self._start(partition)
        for number in [number for number in self._drivers if number >= count]:
            self._drivers.pop(number).drop()

    def _start(self, partition: Partition) -> ShardDriver[ShardT, StoredT]:
        driver = self._new_driver(partition)
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
