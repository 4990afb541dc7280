"""AlterPartitionReassignments: other replicas for partitions (KIP-455).

A new order of the same replicas is only written down. A replica on another broker would have to
copy the log first, which no broker does yet, so it is refused; on a broker that is alone there is
no other place to name. For the same reason no reassignment is ever under way, and there is none to
cancel. The words of the refusals are those of Kafka's ReplicationControlManager.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kbroker.cluster.assignments import check_manual
from kbroker.cluster.change import (
    Change,
    Decision,
    Expectation,
    KeyModifiedAt,
    KeyWrite,
    PutKey,
    Refused,
)
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.image_parts import PartitionImage
from kbroker.cluster.keys import partition_key
from kbroker.cluster.leadership import partition_value


@dataclass(frozen=True, slots=True)
class Reassignment:
    """The replicas that a partition shall have; None cancels what is under way."""

    topic: str
    partition: int
    replicas: tuple[int, ...] | None


def reassign_partitions(
    image: ClusterImage, asked: Sequence[Reassignment], *, fence: Expectation
) -> Decision[tuple[Refused | None, ...]]:
    """Decide each partition by itself; one answer for each, None where it is done."""
    results: list[Refused | None] = []
    expectations: dict[str, Expectation] = {}
    writes: dict[str, KeyWrite] = {}
    for one in asked:
        reassigned = _reassign(image, one)
        if isinstance(reassigned, Refused):
            results.append(reassigned)
            continue
        results.append(None)
        topic = image.topics[one.topic]
        if reassigned != topic.partitions[one.partition]:
            key = partition_key(topic.topic_id, one.partition)
            expectations[key] = KeyModifiedAt(key, reassigned.revision)
            writes[key] = PutKey(key, partition_value(reassigned).encode())
    if not writes:
        return Decision(tuple(results))
    change = Change((fence, *expectations.values()), tuple(writes.values()))
    return Decision(tuple(results), change)


def _reassign(image: ClusterImage, asked: Reassignment) -> PartitionImage | Refused:
    """The partition with its new replicas."""
    topic = image.topics.get(asked.topic)
    if topic is None:
        message = f"Unable to find a topic named {asked.topic}."
        return Refused("UNKNOWN_TOPIC_OR_PARTITION", message)
    if not 0 <= asked.partition < len(topic.partitions):
        message = f"Unable to find partition {asked.topic}:{asked.partition}."
        return Refused("UNKNOWN_TOPIC_OR_PARTITION", message)
    partition = topic.partitions[asked.partition]
    if asked.replicas is None:
        message = "No partition reassignment is in progress."
        return Refused("NO_REASSIGNMENT_IN_PROGRESS", message)
    wrong = check_manual(image, asked.replicas, None)
    if wrong is not None:
        return wrong
    if asked.replicas == partition.replicas:
        return partition
    if set(asked.replicas) != set(partition.replicas):
        message = "Replicas cannot be moved to other brokers."
        return Refused("INVALID_REPLICA_ASSIGNMENT", message)
    return replace(
        partition, replicas=asked.replicas, partition_epoch=partition.partition_epoch + 1
    )
