"""CreatePartitions: more partitions for topics that exist."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kbroker.cluster.assignments import (
    DUPLICATE_TOPIC,
    MAX_PARTITIONS_PER_REQUEST,
    TOO_MANY_PARTITIONS,
    UNKNOWN_TOPIC,
    check_manual,
    new_partition,
    usable_brokers,
)
from kbroker.cluster.change import (
    Change,
    Decision,
    Expectation,
    KeyMissing,
    KeyWrite,
    PutKey,
    Refused,
)
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.image_parts import TopicImage
from kbroker.cluster.keys import partition_key
from kbroker.cluster.placement import CannotPlace, place_replicas


@dataclass(frozen=True, slots=True)
class MorePartitions:
    """How many partitions a topic shall have; ``assignments`` are the brokers of the new ones."""

    name: str
    count: int
    assignments: tuple[tuple[int, ...], ...] | None = None


def create_partitions(
    image: ClusterImage,
    topics: Sequence[MorePartitions],
    *,
    start: int,
    fence: Expectation,
    validate_only: bool = False,
) -> Decision[dict[str, Refused | None]]:
    """Decide each topic by itself; the answer by name is None where partitions are added.

    ``start`` is the die of the placement.
    """
    times = Counter(topic.name for topic in topics)
    results: dict[str, Refused | None] = {}
    expectations: list[Expectation] = [fence]
    writes: list[KeyWrite] = []
    for asked in topics:
        topic = image.topics.get(asked.name)
        if times[asked.name] > 1:
            results[asked.name] = DUPLICATE_TOPIC
            continue
        replicas = (
            UNKNOWN_TOPIC if topic is None else _new_replicas(image, topic, asked, start=start)
        )
        if isinstance(replicas, Refused):
            results[asked.name] = replicas
            continue
        if len(writes) + len(replicas) > MAX_PARTITIONS_PER_REQUEST:
            results[asked.name] = TOO_MANY_PARTITIONS
            continue
        assert topic is not None, "an unknown topic was refused"
        results[asked.name] = None
        for partition, brokers in enumerate(replicas, len(topic.partitions)):
            key = partition_key(topic.topic_id, partition)
            expectations.append(KeyMissing(key))
            writes.append(PutKey(key, new_partition(brokers).encode()))
    if validate_only or not writes:
        return Decision(results)
    return Decision(results, Change(tuple(expectations), tuple(writes)))


def _new_replicas(
    image: ClusterImage, topic: TopicImage, asked: MorePartitions, *, start: int
) -> list[tuple[int, ...]] | Refused:
    """The replicas of each partition to add."""
    count = len(topic.partitions)
    if asked.count == count:
        return Refused("INVALID_PARTITIONS", f"Topic already has {count} partition(s).")
    if asked.count < count:
        return Refused(
            "INVALID_PARTITIONS",
            f"The topic {topic.name} currently has {count} partition(s); "
            f"{asked.count} would not be an increase.",
        )
    additional = asked.count - count
    if additional > MAX_PARTITIONS_PER_REQUEST:
        return TOO_MANY_PARTITIONS
    if not topic.partitions:
        # Only a hand in the store can do this; Kafka answers the same.
        message = f"Invalid state: topic {topic.name} appears to have no partitions."
        return Refused("UNKNOWN_SERVER_ERROR", message)
    factor = len(topic.partitions[0].replicas)
    if asked.assignments is None:
        try:
            return place_replicas(
                usable_brokers(image),
                partitions=additional,
                replication_factor=factor,
                start=start + count,
            )
        except CannotPlace as error:
            return Refused("INVALID_REPLICATION_FACTOR", str(error))
    if len(asked.assignments) != additional:
        return Refused(
            "INVALID_REPLICA_ASSIGNMENT",
            f"Attempted to add {additional} additional partition(s), but only "
            f"{len(asked.assignments)} assignment(s) were specified.",
        )
    for brokers in asked.assignments:
        wrong = check_manual(image, brokers, factor)
        if wrong is not None:
            return wrong
    return list(asked.assignments)
