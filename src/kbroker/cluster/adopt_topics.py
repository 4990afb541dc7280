"""Topics that lie in a data directory and that no metadata knows: they are taken in as they are.

So a directory that Apache Kafka wrote can be served: its topics keep their names, ids and offsets.
Only the metadata of a new cluster takes topics in; in an old one, a directory without a topic is
one that was deleted, or that belongs elsewhere.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kbroker.cluster.change import Change, Decision, KeyMissing, KeyWrite, PutKey
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.keys import partition_key, topic_key
from kbroker.cluster.topic_names import CLUSTER_METADATA
from kbroker.cluster.values import PartitionValue, TopicValue
from kbroker.model import Uuid


@dataclass(slots=True)
class FoundTopic:
    """A topic on disk: its id, and for each partition the last leader epoch its log knows."""

    name: str
    topic_id: Uuid
    leader_epochs: dict[int, int] = field(default_factory=dict)


def adopt_topics(
    image: ClusterImage, found: Iterable[FoundTopic], *, node_id: int
) -> Decision[None]:
    """Make topics of what was found; partitions missing in between come to be, empty."""
    expectations = []
    writes: list[KeyWrite] = []
    for topic in found:
        if topic.name in image.topics or topic.name == CLUSTER_METADATA:
            continue
        for number in range(max(topic.leader_epochs) + 1):
            value = PartitionValue(
                replicas=(node_id,),
                leader=node_id,
                leader_epoch=max(0, topic.leader_epochs.get(number, 0)),
                partition_epoch=0,
                isr=(node_id,),
            )
            writes.append(PutKey(partition_key(topic.topic_id, number), value.encode()))
        key = topic_key(topic.name)
        expectations.append(KeyMissing(key))
        writes.append(PutKey(key, TopicValue(topic.topic_id).encode()))
    return Decision(None, Change(tuple(expectations), tuple(writes)))
