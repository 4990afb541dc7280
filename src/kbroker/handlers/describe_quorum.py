"""DescribeQuorum (key 55): who keeps the metadata, and how far each of them is (KIP-595).

Tools ask for the leader and the lag of the voters. Here the metadata lies in a store and not in a
Raft log, and the facts are the store's: the controller leads since the revision of its claim, which
serves as the epoch, and a revision of the store takes the place of an offset. What the image shows
is committed, so the one voter is never behind.
"""

from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    ReplicaState,
    RequestTopicData,
    ResponsePartitionData,
    ResponseTopicData,
)

_TOPIC = "__cluster_metadata"
_PARTITION = 0


def begin(context: RequestContext, request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    """Describe the one partition there is; as Kafka does, only to who asks for nothing else."""
    asked = [
        (topic.topic_name, partition.partition_index)
        for topic in request.topics
        for partition in topic.partitions
    ]
    if asked != [(_TOPIC, _PARTITION)]:
        return DescribeQuorumResponse(topics=[_unknown(topic) for topic in request.topics])
    broker = context.broker
    image = broker.image
    timestamp_ms = broker.clock.timestamp_ms()
    leader = ReplicaState(
        replica_id=image.controller_id,
        log_end_offset=image.revision,
        last_fetch_timestamp=timestamp_ms,
        last_caught_up_timestamp=timestamp_ms,
    )
    partition = ResponsePartitionData(
        partition_index=_PARTITION,
        leader_id=image.controller_id,
        leader_epoch=image.controller_epoch,
        high_watermark=image.revision,
        current_voters=[leader],
    )
    name = context.connection.listener
    return DescribeQuorumResponse(
        topics=[ResponseTopicData(topic_name=_TOPIC, partitions=[partition])],
        nodes=[
            Node(node_id=node_id, listeners=[Listener(name=name, host=host, port=port)])
            for node_id, host, port, _ in broker.endpoints(name)
            if node_id == image.controller_id
        ],
    )


def _unknown(topic: RequestTopicData) -> ResponseTopicData:
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ResponseTopicData(
        topic_name=topic.topic_name,
        partitions=[
            ResponsePartitionData(
                partition_index=partition.partition_index,
                error_code=error,
                error_message="This server does not host this topic-partition.",
            )
            for partition in topic.partitions
        ],
    )
