"""Replicas of new partitions, chosen by the client or by us; shared by the decisions that add some.

The words of the refusals are those of Kafka's ReplicationControlManager: tools show them, and
people search for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kbroker.cluster.change import Refused
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.placement import PlacementBroker
from kbroker.cluster.values import PartitionValue

# Kafka 4 refuses larger requests (KAFKA-17870), and so must we: a request is decided in one go.
MAX_PARTITIONS_PER_REQUEST = 10_000

DUPLICATE_TOPIC = Refused("INVALID_REQUEST", "Duplicate topic name.")
TOO_MANY_PARTITIONS = Refused(
    "POLICY_VIOLATION", "Excessively large number of partitions per request."
)
UNKNOWN_TOPIC = Refused(
    "UNKNOWN_TOPIC_OR_PARTITION", "This server does not host this topic-partition."
)


@dataclass(frozen=True, slots=True)
class ManualAssignment:
    """The brokers a client wants for one new partition, the preferred leader first."""

    partition: int
    brokers: tuple[int, ...]


def usable_brokers(image: ClusterImage) -> list[PlacementBroker]:
    """The brokers on which replicas may be placed: all that live."""
    return [PlacementBroker(broker.node_id, broker.rack) for broker in image.brokers.values()]


def check_manual(
    image: ClusterImage, brokers: Sequence[int], replication_factor: int | None
) -> Refused | None:
    """What is wrong with the replicas a client chose for one partition; None if nothing is.

    ``replication_factor`` is that of the partitions before it, if there are any.
    """

    def refused(reason: str) -> Refused:
        message = f"The manual partition assignment includes {reason}"
        return Refused("INVALID_REPLICA_ASSIGNMENT", message)

    if not brokers:
        return refused("an empty replica list.")
    previous = None
    for node_id in sorted(brokers):
        if node_id not in image.brokers:
            return refused(f"broker {node_id}, but no such broker is registered.")
        if node_id == previous:
            return refused(f"the broker {node_id} more than once.")
        previous = node_id
    if replication_factor is not None and len(brokers) != replication_factor:
        return refused(
            f"a partition with {len(brokers)} replica(s), but this is not consistent with "
            f"previous partitions, which have {replication_factor} replica(s)."
        )
    return None


def new_partition(replicas: Sequence[int]) -> PartitionValue:
    """A partition that was never written to: all replicas are in sync, the first one leads."""
    return PartitionValue(
        replicas=tuple(replicas),
        leader=replicas[0],
        leader_epoch=0,
        partition_epoch=0,
        isr=tuple(replicas),
    )
