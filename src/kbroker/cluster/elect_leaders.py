"""ElectLeaders: give partitions the leader they should have (KIP-183, KIP-460).

The preferred leader is the first replica. An unclean election is one that may choose a replica
which is not in sync, and so lose records; it is for partitions that have no leader at all. The
words of the refusals are those of Kafka's ReplicationControlManager.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from typing import Final

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
from kbroker.cluster.image_parts import PartitionImage, TopicImage
from kbroker.cluster.keys import partition_key
from kbroker.cluster.leadership import partition_value
from kbroker.cluster.values import NO_LEADER

NOT_NEEDED: Final = Refused(
    "ELECTION_NOT_NEEDED", "Leader election not needed for topic partition."
)


class ElectionType(IntEnum):
    """Which replica shall lead."""

    PREFERRED = 0
    UNCLEAN = 1


# What was decided for each partition, by topic: None where a new leader was elected.
Elected = dict[str, dict[int, Refused | None]]


def elect_leaders(
    image: ClusterImage,
    election: ElectionType,
    asked: Sequence[tuple[str, Sequence[int]]] | None,
    *,
    fence: Expectation,
) -> Decision[Elected]:
    """Decide each partition of ``asked`` by itself; None asks for all that need a leader."""
    if asked is None:
        asked = [(topic.name, range(len(topic.partitions))) for topic in image.topics.values()]
        leave_out_settled = True
    else:
        leave_out_settled = False
    results: Elected = {}
    expectations: dict[str, Expectation] = {}
    writes: dict[str, KeyWrite] = {}
    for name, indexes in asked:
        answers = results.setdefault(name, {})
        for index in indexes:
            found = _find(image, name, index)
            if isinstance(found, Refused):
                answers[index] = found
                continue
            topic, partition = found
            elected = _elect(image, partition, election)
            if isinstance(elected, Refused):
                if elected is not NOT_NEEDED or not leave_out_settled:
                    answers[index] = elected
                continue
            answers[index] = None
            key = partition_key(topic.topic_id, index)
            expectations[key] = KeyModifiedAt(key, partition.revision)
            writes[key] = PutKey(key, partition_value(elected).encode())
    if not writes:
        return Decision(results)
    return Decision(results, Change((fence, *expectations.values()), tuple(writes.values())))


def _find(
    image: ClusterImage, name: str, index: int
) -> tuple[TopicImage, PartitionImage] | Refused:
    topic = image.topics.get(name)
    if topic is None:
        return Refused("UNKNOWN_TOPIC_OR_PARTITION", f"No such topic as {name}")
    if not 0 <= index < len(topic.partitions):
        return Refused("UNKNOWN_TOPIC_OR_PARTITION", f"No such partition as {name}-{index}")
    return topic, topic.partitions[index]


def _elect(
    image: ClusterImage, partition: PartitionImage, election: ElectionType
) -> PartitionImage | Refused:
    """The partition with its new leader."""
    in_sync = partition.isr
    if election is ElectionType.PREFERRED:
        preferred = partition.replicas[0]
        if partition.leader == preferred:
            return NOT_NEEDED
        if preferred not in in_sync or preferred not in image.brokers:
            message = "The preferred leader was not available."
            return Refused("PREFERRED_LEADER_NOT_AVAILABLE", message)
        leader = preferred
    else:
        if partition.leader != NO_LEADER:
            return NOT_NEEDED
        living = [node_id for node_id in partition.replicas if node_id in image.brokers]
        # One that is in sync loses nothing; any other is all that is left.
        candidates = [node_id for node_id in living if node_id in in_sync] or living
        if not candidates:
            message = "Eligible topic partition leaders are not available."
            return Refused("ELIGIBLE_LEADERS_NOT_AVAILABLE", message)
        leader = candidates[0]
        in_sync = in_sync if leader in in_sync else (leader,)
    return replace(
        partition,
        leader=leader,
        isr=in_sync,
        leader_epoch=partition.leader_epoch + 1,
        partition_epoch=partition.partition_epoch + 1,
    )
