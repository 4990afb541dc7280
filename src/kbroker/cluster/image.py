"""What the cluster is, as far as this broker has heard: the store's keys as objects.

`ClusterImage` is filled from one listing and then follows the watch, batch by batch. It is only
read by others; each batch tells, as an `ImageDelta`, what a broker may have to act on. The parts
it hands out are immutable, so they can be kept across an await, and they are replaced, never
changed.

A topic exists when its ``topics/`` key does. Its partitions are written before that key and
deleted after it, so partitions without a topic are normal for a moment; a controller that died in
between leaves them for good, and `orphans` names them to the next one.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Self

from kbroker.cluster import keys
from kbroker.cluster.image_parts import (
    NO_CONFIGS,
    BrokerImage,
    FeaturesImage,
    ImageDelta,
    KeyChange,
    PartitionImage,
    TopicImage,
)
from kbroker.cluster.keys import BrokerKey, ConfigResource, PartitionKey, ResourceType, TopicKey
from kbroker.cluster.topic_names import has_collision_characters, unified
from kbroker.cluster.values import (
    NO_LEADER,
    BrokerValue,
    ClusterValue,
    ConfigsValue,
    ControllerValue,
    FeaturesValue,
    MalformedValue,
    PartitionValue,
    ProducerIdsValue,
    TopicValue,
)
from kbroker.model import Uuid


@dataclass(slots=True)
class _Touched:
    """What a batch of changes has touched so far."""

    topics: set[str] = field(default_factory=set)
    partitions: dict[Uuid, set[int]] = field(default_factory=dict)
    configs: set[ConfigResource] = field(default_factory=set)
    brokers: set[int] = field(default_factory=set)
    controller: bool = False
    features: bool = False
    other: list[KeyChange] = field(default_factory=list)


class ClusterImage:
    """The cluster at ``revision``. `apply` and `resync` are the only methods that change it."""

    def __init__(self) -> None:
        self.revision = 0
        self.cluster_id: str | None = None
        self.controller_id = NO_LEADER
        self.controller_epoch = -1
        self.brokers: dict[int, BrokerImage] = {}
        self.topics: dict[str, TopicImage] = {}
        self.topic_names: dict[Uuid, str] = {}
        self.configs: dict[ConfigResource, Mapping[str, str]] = {}
        self.features = FeaturesImage()
        self.next_producer_id = 0
        # Names by their unified form, to find collisions of '.' and '_' without a scan.
        self.unified_names: dict[str, set[str]] = {}
        self._revisions: dict[str, int] = {}
        # All partitions by topic id and number, also those whose topic is not there.
        self._partitions: dict[Uuid, dict[int, PartitionImage]] = {}
        self._topic_ids: dict[str, Uuid] = {}

    @classmethod
    def from_listing(cls, items: Iterable[KeyChange], revision: int) -> Self:
        """The image of all keys at ``revision``."""
        image = cls()
        image.apply(items, revision)
        return image

    def key_revision(self, key: str) -> int | None:
        """The revision that last changed ``key``; None if it does not exist."""
        return self._revisions.get(key)

    def topic_by_id(self, topic_id: Uuid) -> TopicImage | None:
        """The topic with this id."""
        name = self.topic_names.get(topic_id)
        return None if name is None else self.topics[name]

    def orphans(self) -> Iterator[str]:
        """The keys of partitions whose topic does not exist."""
        for topic_id, partitions in self._partitions.items():
            if topic_id not in self.topic_names:
                for partition in partitions:
                    yield keys.partition_key(topic_id, partition)

    def resync(self, items: Iterable[KeyChange], revision: int) -> ImageDelta:
        """Take a full listing after watching was interrupted, and tell what changed meanwhile."""
        listed = {item.key: item for item in items}
        changes = [
            KeyChange(key, None, 0, revision) for key in self._revisions if key not in listed
        ]
        changes.extend(
            item
            for item in listed.values()
            if self._revisions.get(item.key, -1) != item.mod_revision
        )
        return self.apply(changes, revision)

    def apply(self, changes: Iterable[KeyChange], revision: int) -> ImageDelta:
        """Take in one batch of changes, up to ``revision``, and tell what they did.

        Changes that were seen before are left out, so a batch may be applied twice (M5).
        MalformedValue if a key holds what no broker wrote; the image is then not to be used.
        """
        assert revision >= self.revision, "revisions only grow (M5)"
        self.revision = revision
        touched = _Touched()
        for change in changes:
            known = self._revisions.get(change.key)
            if (known is None and change.value is None) or (
                known is not None and change.mod_revision <= known
            ):
                continue
            try:
                self._take(change, touched)
            except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
                message = f"cannot read the value of {change.key}: {error!r}"
                raise MalformedValue(message) from error
            if change.value is None:
                del self._revisions[change.key]
            else:
                self._revisions[change.key] = change.mod_revision
        return self._rebuild_topics(touched)

    def _take(self, change: KeyChange, touched: _Touched) -> None:
        match change.key:
            case keys.CLUSTER:
                value = change.value
                self.cluster_id = None if value is None else ClusterValue.decode(value).cluster_id
                return
            case keys.CONTROLLER:
                self._take_controller(change)
                touched.controller = True
                return
            case keys.FEATURES:
                self._take_features(change)
                touched.features = True
                return
            case keys.PRODUCER_IDS:
                self._take_producer_ids(change)
                return
        match keys.parse_key(change.key):
            case PartitionKey(topic_id, partition):
                self._take_partition(topic_id, partition, change)
                touched.partitions.setdefault(topic_id, set()).add(partition)
            case TopicKey(name):
                touched.topics.add(name)
                if change.value is None:
                    self._topic_ids.pop(name, None)
                else:
                    self._topic_ids[name] = TopicValue.decode(change.value).topic_id
            case ConfigResource() as resource:
                self._take_configs(resource, change)
                touched.configs.add(resource)
                if resource.type is ResourceType.TOPIC:
                    touched.topics.add(resource.name)
            case BrokerKey(node_id):
                self._take_broker(node_id, change)
                touched.brokers.add(node_id)
            case None:
                touched.other.append(change)

    def _take_controller(self, change: KeyChange) -> None:
        if change.value is None:
            self.controller_id = NO_LEADER
            self.controller_epoch = -1
        else:
            self.controller_id = ControllerValue.decode(change.value).node_id
            self.controller_epoch = change.create_revision

    def _take_features(self, change: KeyChange) -> None:
        levels = {} if change.value is None else FeaturesValue.decode(change.value).levels
        self.features = FeaturesImage(MappingProxyType(dict(levels)), change.mod_revision)

    def _take_producer_ids(self, change: KeyChange) -> None:
        if change.value is None:
            self.next_producer_id = 0
        else:
            self.next_producer_id = ProducerIdsValue.decode(change.value).next_producer_id

    def _take_partition(self, topic_id: Uuid, partition: int, change: KeyChange) -> None:
        siblings = self._partitions.setdefault(topic_id, {})
        if change.value is None:
            siblings.pop(partition, None)
            if not siblings:
                del self._partitions[topic_id]
            return
        value = PartitionValue.decode(change.value)
        siblings[partition] = PartitionImage(
            partition,
            value.leader,
            value.leader_epoch,
            value.partition_epoch,
            value.replicas,
            value.isr,
            value.elr,
            value.last_known_elr,
            change.mod_revision,
        )

    def _take_configs(self, resource: ConfigResource, change: KeyChange) -> None:
        if change.value is None:
            self.configs.pop(resource, None)
        else:
            configs = ConfigsValue.decode(change.value).configs
            self.configs[resource] = MappingProxyType(dict(configs))

    def _take_broker(self, node_id: int, change: KeyChange) -> None:
        if change.value is None:
            self.brokers.pop(node_id, None)
            return
        value = BrokerValue.decode(change.value)
        self.brokers[node_id] = BrokerImage(
            node_id,
            change.create_revision,
            value.endpoints,
            value.rack,
            value.incarnation_id,
            value.features,
        )

    def _rebuild_topics(self, touched: _Touched) -> ImageDelta:
        """Make the touched topics anew from what was taken in."""
        created: dict[str, TopicImage] = {}
        changed: dict[str, TopicImage] = {}
        deleted: dict[str, TopicImage] = {}
        names = touched.topics
        names.update(self.topic_names[id_] for id_ in touched.partitions if id_ in self.topic_names)
        # All that go before any that come: an id may have moved from one name to another.
        for name in names:
            old = self.topics.get(name)
            if old is not None and old.topic_id != self._topic_ids.get(name):
                deleted[name] = old
                self._forget_topic(old)
        for name in names:
            old = self.topics.get(name)
            topic_id = self._topic_ids.get(name)
            if topic_id is None:
                continue
            configs = self.configs.get(ConfigResource(ResourceType.TOPIC, name), NO_CONFIGS)
            partitions = self._partitions_of(topic_id, old, touched.partitions.get(topic_id, set()))
            new = TopicImage(name, topic_id, partitions, configs)
            self.topics[name] = new
            if old is None:
                created[name] = new
                self._learn_topic(new)
            else:
                changed[name] = new
        return ImageDelta(
            created=created,
            changed=changed,
            deleted=deleted,
            configs=frozenset(touched.configs),
            brokers=frozenset(touched.brokers),
            controller=touched.controller,
            features=touched.features,
            other=tuple(touched.other),
        )

    def _partitions_of(
        self, topic_id: Uuid, old: TopicImage | None, touched: set[int]
    ) -> tuple[PartitionImage, ...]:
        """The partitions from 0 up to the first that is missing."""
        now = self._partitions.get(topic_id, {})
        if old is not None and len(now) == len(old.partitions) and touched <= now.keys():
            # Nothing came or went: copy, and look only at what was touched.
            partitions = list(old.partitions)
            for partition in touched:
                partitions[partition] = now[partition]
            return tuple(partitions)
        partitions = []
        while (found := now.get(len(partitions))) is not None:
            partitions.append(found)
        return tuple(partitions)

    def _learn_topic(self, topic: TopicImage) -> None:
        self.topic_names[topic.topic_id] = topic.name
        if has_collision_characters(topic.name):
            self.unified_names.setdefault(unified(topic.name), set()).add(topic.name)

    def _forget_topic(self, topic: TopicImage) -> None:
        del self.topics[topic.name]
        del self.topic_names[topic.topic_id]
        if has_collision_characters(topic.name):
            same = self.unified_names[unified(topic.name)]
            same.discard(topic.name)
            if not same:
                del self.unified_names[unified(topic.name)]
