"""A cluster without a store: changes are applied to an image as a store would write them."""

from dataclasses import dataclass, field

from kbroker.cluster import (
    BrokerValue,
    Change,
    ClusterImage,
    ConfigResource,
    DeleteKey,
    Endpoint,
    ImageDelta,
    KeyChange,
    KeyCreatedAt,
    KeyMissing,
    KeyModifiedAt,
    NewTopic,
    PutKey,
    ResourceType,
    TopicCreated,
    TopicDefaults,
    VersionRange,
    claim_controller,
    controller_fence,
    create_topics,
    register_broker,
)
from kbroker.model import Uuid

DEFAULTS = TopicDefaults(num_partitions=1, replication_factor=1)


def uuid(number: int) -> Uuid:
    return Uuid(number.to_bytes(16, "big"))


def topic_resource(name: str) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, name)


def any_configs(configs) -> None:
    """A check that finds no fault."""


@dataclass
class World:
    """The keys, their revisions, and an image that has heard of everything."""

    keys: dict[str, KeyChange] = field(default_factory=dict)
    revision: int = 1
    image: ClusterImage = field(default_factory=ClusterImage)
    deltas: list[ImageDelta] = field(default_factory=list)
    last_id: int = 0

    def write(self, change: Change) -> bool:
        """Write all chunks, each as one transaction; False if one finds its expectations broken."""
        return all(self.write_one(chunk) for chunk in change.chunks())

    def write_one(self, change: Change) -> bool:
        if not all(self.holds(expectation) for expectation in change.expectations):
            return False
        self.revision += 1
        batch = []
        for write in change.writes:
            old = self.keys.get(write.key)
            if isinstance(write, DeleteKey):
                if old is not None:
                    del self.keys[write.key]
                    batch.append(KeyChange(write.key, None, 0, self.revision))
                continue
            created = self.revision if old is None else old.create_revision
            self.keys[write.key] = KeyChange(write.key, write.value, created, self.revision)
            batch.append(self.keys[write.key])
        self.deltas.append(self.image.apply(batch, self.revision))
        return True

    def holds(self, expectation) -> bool:
        found = self.keys.get(expectation.key)
        match expectation:
            case KeyMissing():
                return found is None
            case KeyCreatedAt(_, revision):
                return found is not None and found.create_revision == revision
            case KeyModifiedAt(_, revision):
                return found is not None and found.mod_revision == revision
        raise AssertionError(expectation)

    def put(self, key: str, value: bytes) -> None:
        assert self.write_one(Change((), (PutKey(key, value),)))

    @property
    def fence(self) -> KeyCreatedAt:
        return controller_fence(self.keys["controller"].create_revision)

    def new_id(self) -> Uuid:
        self.last_id += 1
        return uuid(self.last_id)

    def decide_topics(self, *topics: NewTopic, **arguments):
        return create_topics(
            self.image,
            topics,
            **{
                "topic_ids": [self.new_id() for _ in topics],
                "defaults": DEFAULTS,
                "check_configs": any_configs,
                "start": 0,
                "fence": self.fence,
                **arguments,
            },
        )

    def create(self, *topics: NewTopic) -> None:
        decision = self.decide_topics(*topics)
        assert all(isinstance(result, TopicCreated) for result in decision.results.values())
        assert self.write(decision.change)


def broker_value(node_id: int, rack: str | None = None) -> BrokerValue:
    return BrokerValue(
        node_id,
        uuid(1_000_000 + node_id),
        (Endpoint("PLAINTEXT", "localhost", 9092 + node_id),),
        rack,
        {"metadata.version": VersionRange(7, 30), "transaction.version": VersionRange(0, 2)},
    )


def world(brokers: int = 1) -> World:
    """A cluster of ``brokers`` brokers, the first of them its controller."""
    made = World()
    for node_id in range(1, brokers + 1):
        assert made.write(register_broker(broker_value(node_id)))
    assert made.write(claim_controller(1))
    return made
