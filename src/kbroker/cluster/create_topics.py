"""CreateTopics: which topics come to be, and which do not.

The order of the checks is that of Kafka's ControllerApis and ReplicationControlManager, since
a request with two faults must get the same answer.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kbroker.cluster.assignments import (
    DUPLICATE_TOPIC,
    MAX_PARTITIONS_PER_REQUEST,
    TOO_MANY_PARTITIONS,
    ManualAssignment,
    check_manual,
    new_partition,
    usable_brokers,
)
from kbroker.cluster.change import (
    Change,
    Decision,
    DeleteKey,
    Expectation,
    KeyMissing,
    KeyWrite,
    PutKey,
    Refused,
)
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.keys import (
    ConfigResource,
    ResourceType,
    config_key,
    partition_key,
    topic_key,
)
from kbroker.cluster.placement import CannotPlace, place_replicas
from kbroker.cluster.topic_names import (
    CLUSTER_METADATA,
    InvalidTopicName,
    check_collision,
    validate_topic_name,
)
from kbroker.cluster.values import ConfigsValue, TopicValue
from kbroker.config.errors import ConfigError, ConfigRequestError
from kbroker.model import Uuid


class ConfigCheck(Protocol):
    """Says whether a topic may have these overrides."""

    def __call__(self, configs: Mapping[str, str], /) -> None:
        """Raise ConfigError, with words for the client, if it may not."""


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic somebody wants. -1 asks for the default; ``assignments`` need both to be -1."""

    name: str
    num_partitions: int = -1
    replication_factor: int = -1
    assignments: tuple[ManualAssignment, ...] = ()
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicDefaults:
    """What -1 means: num.partitions and default.replication.factor."""

    num_partitions: int
    replication_factor: int


@dataclass(frozen=True, slots=True)
class TopicCreated:
    """A topic that exists once the change is written."""

    topic_id: Uuid
    num_partitions: int
    replication_factor: int
    configs: Mapping[str, str]


def create_topics(
    image: ClusterImage,
    topics: Sequence[NewTopic],
    *,
    topic_ids: Sequence[Uuid],
    defaults: TopicDefaults,
    check_configs: ConfigCheck,
    start: int,
    fence: Expectation,
    validate_only: bool = False,
) -> Decision[dict[str, TopicCreated | Refused]]:
    """Decide each topic by itself; the answer is by name.

    ``topic_ids`` are new ids, one for each topic; ``start`` is the die of the placement.
    With ``validate_only`` the answers are the same and nothing is written.
    """
    assert len(topic_ids) == len(topics), "one new id for each topic"
    times = Counter(topic.name for topic in topics)
    results: dict[str, TopicCreated | Refused] = {}
    expectations: list[Expectation] = [fence]
    writes: list[KeyWrite] = []
    total = sum(_asked_partitions(topic, defaults) for topic in topics if times[topic.name] == 1)
    for topic, topic_id in zip(topics, topic_ids, strict=True):
        if times[topic.name] > 1:
            results[topic.name] = DUPLICATE_TOPIC
            continue
        if total > MAX_PARTITIONS_PER_REQUEST:
            results[topic.name] = TOO_MANY_PARTITIONS
            continue
        replicas = (
            _check_name(image, topic.name)
            or _check_topic_configs(topic, check_configs)
            or _replicas_of(image, topic, defaults, start)
        )
        if isinstance(replicas, Refused):
            results[topic.name] = replicas
            continue
        configs = {name: value for name, value in topic.configs.items() if value is not None}
        results[topic.name] = TopicCreated(topic_id, len(replicas), len(replicas[0]), configs)
        expectations.append(KeyMissing(topic_key(topic.name)))
        writes.extend(_writes(image, topic.name, topic_id, replicas, configs))
    if validate_only or len(expectations) == 1:
        return Decision(results)
    return Decision(results, Change(tuple(expectations), tuple(writes)))


def _asked_partitions(topic: NewTopic, defaults: TopicDefaults) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return defaults.num_partitions if topic.num_partitions == -1 else max(0, topic.num_partitions)


def _check_name(image: ClusterImage, name: str) -> Refused | None:
    if name == CLUSTER_METADATA:
        return Refused("INVALID_REQUEST", f"Creation of internal topic {name} is prohibited.")
    if name in image.topics:
        return Refused("TOPIC_ALREADY_EXISTS", f"Topic '{name}' already exists.")
    try:
        validate_topic_name(name)
        check_collision(name, image.unified_names)
    except InvalidTopicName as error:
        return Refused(error.kafka_error, str(error))
    return None


def _check_topic_configs(topic: NewTopic, check_configs: ConfigCheck) -> Refused | None:
    without = [name for name, value in topic.configs.items() if value is None]
    if without:
        message = f"Null value not supported for topic configs: {','.join(without)}"
        return Refused("INVALID_CONFIG", message)
    try:
        check_configs({name: value for name, value in topic.configs.items() if value is not None})
    except ConfigRequestError as error:
        return Refused("INVALID_REQUEST", str(error))
    except ConfigError as error:
        return Refused("INVALID_CONFIG", str(error))
    return None


def _replicas_of(
    image: ClusterImage, topic: NewTopic, defaults: TopicDefaults, start: int
) -> list[tuple[int, ...]] | Refused:
    """The replicas of each partition, chosen by the client or by us."""
    if topic.assignments:
        return _manual_replicas(image, topic)
    if topic.replication_factor < -1 or topic.replication_factor == 0:
        return Refused(
            "INVALID_REPLICATION_FACTOR",
            "Replication factor must be larger than 0, or -1 to use the default value.",
        )
    if topic.num_partitions < -1 or topic.num_partitions == 0:
        return Refused(
            "INVALID_PARTITIONS", "Number of partitions was set to an invalid non-positive value."
        )
    factor = topic.replication_factor
    if factor == -1:
        factor = defaults.replication_factor
    try:
        return place_replicas(
            usable_brokers(image),
            partitions=_asked_partitions(topic, defaults),
            replication_factor=factor,
            start=start,
        )
    except CannotPlace as error:
        message = f"Unable to replicate the partition {factor} time(s): {error}"
        return Refused("INVALID_REPLICATION_FACTOR", message)


def _manual_replicas(image: ClusterImage, topic: NewTopic) -> list[tuple[int, ...]] | Refused:
    asked = "A manual partition assignment was specified, but"
    if topic.replication_factor != -1:
        return Refused("INVALID_REQUEST", f"{asked} replication factor was not set to -1.")
    if topic.num_partitions != -1:
        return Refused("INVALID_REQUEST", f"{asked} numPartitions was not set to -1.")
    replicas: dict[int, tuple[int, ...]] = {}
    factor = None
    for assignment in topic.assignments:
        if assignment.partition in replicas:
            return Refused(
                "INVALID_REPLICA_ASSIGNMENT",
                f"Found multiple manual partition assignments for partition {assignment.partition}",
            )
        wrong = check_manual(image, assignment.brokers, factor)
        if wrong is not None:
            return wrong
        factor = len(assignment.brokers)
        replicas[assignment.partition] = assignment.brokers
    if replicas.keys() != set(range(len(replicas))):
        return Refused(
            "INVALID_REPLICA_ASSIGNMENT",
            "partitions should be a consecutive 0-based integer sequence",
        )
    return [replicas[partition] for partition in range(len(replicas))]


def _writes(
    image: ClusterImage,
    name: str,
    topic_id: Uuid,
    replicas: Sequence[Sequence[int]],
    configs: Mapping[str, str],
) -> list[KeyWrite]:
    """The topic's own key comes last: the topic exists when all the rest does."""
    writes: list[KeyWrite] = [
        PutKey(partition_key(topic_id, partition), new_partition(brokers).encode())
        for partition, brokers in enumerate(replicas)
    ]
    key = config_key(ConfigResource(ResourceType.TOPIC, name))
    if configs:
        writes.append(PutKey(key, ConfigsValue(configs).encode()))
    elif image.key_revision(key) is not None:
        # Left over from a former topic of this name, whose deletion was cut short.
        writes.append(DeleteKey(key))
    writes.append(PutKey(topic_key(name), TopicValue(topic_id).encode()))
    return writes
