"""The coordinator of all groups whose records lie in partitions that this broker leads.

A group belongs to the partition of ``__consumer_offsets`` that the hash of its id names, and so to
that partition's shard.
"""

import secrets
from collections.abc import Awaitable, Callable, Collection
from uuid import UUID

from kbroker.broker.clock import Clock
from kbroker.broker.coordinator import Coordinator
from kbroker.broker.partition import Partition
from kbroker.broker.partitions import Partitions
from kbroker.broker.requests import RequestContext
from kbroker.broker.shard_driver import RecordFormat, ShardDriver
from kbroker.cluster import ClusterImage, ConfigResource, ResourceType
from kbroker.cluster.topic_names import CONSUMER_OFFSETS
from kbroker.config import BrokerConfig, GroupConfig
from kbroker.groups import (
    Caller,
    GroupRecord,
    GroupSettings,
    GroupShard,
    decode_record,
    encode_record,
)
from kbroker.model import Uuid, uuid_to_text

GROUP_RECORDS = RecordFormat("group", encode_record, decode_record)


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


class GroupCoordinator(Coordinator[GroupShard, GroupRecord]):
    """All shards of this broker, found by group id."""

    def __init__(
        self,
        partitions: Partitions,
        image: Callable[[], ClusterImage],
        config: Callable[[], BrokerConfig],
        create_topics: Callable[[list[str]], Awaitable[object]],
        clock: Clock,
    ) -> None:
        super().__init__(CONSUMER_OFFSETS, partitions, image, create_topics, clock)
        self._config = config
        self._topics = ImageTopics(image)

    def _group_config(self, group_id: str) -> GroupConfig | None:
        """What a group has set for itself, or None."""
        overrides = self._image().configs.get(ConfigResource(ResourceType.GROUP, group_id))
        return None if overrides is None else GroupConfig.of(self._config(), overrides)

    def caller(self, context: RequestContext) -> Caller:
        """Who sends a request, as groups see it."""
        host = f"/{context.connection.peer_host}"
        return Caller(context.client_id, host, context.api_version)

    def new_member_id(self, name: str) -> str:
        """The id of a new member: who it says to be, and something nobody else has."""
        return f"{name}-{UUID(bytes=secrets.token_bytes(16), version=4)}"

    def new_uuid_text(self) -> str:
        """A random uuid in Kafka's base64 form, which members of consumer groups are named by."""
        return uuid_to_text(Uuid(secrets.token_bytes(16)))

    def configure(self) -> None:
        """The configs changed."""
        settings = GroupSettings.of(self._config())
        for driver in self._drivers.values():
            driver.shard.configure(settings)

    def follow(self, deleted: Collection[str] = ()) -> None:
        """The image changed; ``deleted`` are topics whose offsets nobody shall find again."""
        super().follow(deleted)
        now, now_ms = self.now(), self.timestamp_ms()
        for driver in self._drivers.values():
            if deleted:
                driver.tell(lambda shard: shard.on_topics_deleted(deleted))
            driver.tell(lambda shard: shard.on_topics_changed(now, now_ms))

    def _new_driver(self, partition: Partition) -> ShardDriver[GroupShard, GroupRecord]:
        settings = GroupSettings.of(self._config())
        shard = GroupShard(settings, self._topics, self._group_config)
        return ShardDriver(partition, shard, GROUP_RECORDS, self._clock, self._wake_by)
