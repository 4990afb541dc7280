"""Who leads a partition.

So far for partitions with one replica, the only kind a broker that is alone has: their leader is
that replica whenever it lives.
"""

from dataclasses import replace

from kbroker.cluster.change import Change, DeleteKey, Expectation, KeyModifiedAt, KeyWrite, PutKey
from kbroker.cluster.image import ClusterImage
from kbroker.cluster.image_parts import PartitionImage
from kbroker.cluster.keys import partition_key
from kbroker.cluster.values import PartitionValue


def lead_sole_replicas(image: ClusterImage, node_id: int, fence: Expectation) -> Change:
    """Make a broker that has just registered the leader of all partitions that only it has.

    Kafka's controller takes the leadership away when a broker goes and gives it back when it
    comes, which moves the leader epoch. Here the broker that goes was the controller itself, so
    both moves are made at once: one leader change, one epoch (M2). Whoever still holds the old
    epoch, a client with old metadata or a write of the former process, is told so (R13).
    """
    expectations: list[Expectation] = [fence]
    writes: list[KeyWrite] = []
    for topic in image.topics.values():
        for partition in topic.partitions:
            if partition.replicas != (node_id,):
                continue
            key = partition_key(topic.topic_id, partition.partition)
            value = replace(
                partition_value(partition),
                leader=node_id,
                leader_epoch=partition.leader_epoch + 1,
                partition_epoch=partition.partition_epoch + 1,
                isr=(node_id,),
                elr=(),
                last_known_elr=(),
            )
            expectations.append(KeyModifiedAt(key, partition.revision))
            writes.append(PutKey(key, value.encode()))
    return Change(tuple(expectations), tuple(writes))


def sweep_orphans(image: ClusterImage, fence: Expectation) -> Change:
    """Delete partitions whose topic is gone or never came: a controller died at work."""
    return Change((fence,), tuple(DeleteKey(key) for key in image.orphans()))


def partition_value(partition: PartitionImage) -> PartitionValue:
    """What is stored of this partition."""
    return PartitionValue(
        replicas=partition.replicas,
        leader=partition.leader,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        isr=partition.isr,
        elr=partition.elr,
        last_known_elr=partition.last_known_elr,
    )
