"""DescribeTopicPartitions (key 75): topics and their partitions, page by page (KIP-966).

Topics come in the order of their names. A page ends after so many partitions, and its cursor says
where the next one begins; a cluster of a million partitions is read without one huge answer.
"""

from kbroker.broker.requests import RequestContext
from kbroker.broker.resources import TOPIC_OPERATIONS
from kbroker.cluster import PartitionImage, TopicImage
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    ResponseCursor,
)

_NO_LEADER = -1


def begin(
    context: RequestContext, request: DescribeTopicPartitionsRequest
) -> DescribeTopicPartitionsResponse:
    """Give the page at the cursor."""
    image = context.broker.image
    asked = {topic.name for topic in request.topics}
    cursor = request.cursor
    if cursor is not None and (
        cursor.partition_index < 0 or (asked and cursor.topic_name not in asked)
    ):
        return _refuse_all(request, ErrorCode.INVALID_REQUEST)
    first = "" if cursor is None else cursor.topic_name
    remaining = max(
        1,
        min(
            request.response_partition_limit,
            context.broker.config.get_int("max.request.partition.size.limit"),
        ),
    )
    response = DescribeTopicPartitionsResponse()
    for name in sorted(name for name in asked or image.topics if name >= first):
        if remaining == 0:
            response.next_cursor = ResponseCursor(topic_name=name, partition_index=0)
            break
        topic = image.topics.get(name)
        if topic is None:
            response.topics.append(_missing(context, name))
            continue
        start = cursor.partition_index if cursor is not None and name == first else 0
        partitions = topic.partitions[start : start + remaining]
        response.topics.append(_described(context, topic, partitions))
        remaining -= len(partitions)
        if start + len(partitions) < len(topic.partitions):
            response.next_cursor = ResponseCursor(
                topic_name=name, partition_index=start + len(partitions)
            )
            break
    return response


def _refuse_all(
    request: DescribeTopicPartitionsRequest, error: ErrorCode
) -> DescribeTopicPartitionsResponse:
    """The message has no place for an error of the whole request."""
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(name=topic.name, error_code=error)
            for topic in request.topics
        ]
    )


def _missing(context: RequestContext, name: str) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=context.broker.missing_topic_error(name),
        name=name,
        is_internal=name in context.broker.internal_topics,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _described(
    context: RequestContext, topic: TopicImage, partitions: tuple[PartitionImage, ...]
) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in context.broker.internal_topics,
        partitions=[_partition(context, partition) for partition in partitions],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )


def _partition(
    context: RequestContext, partition: PartitionImage
) -> DescribeTopicPartitionsResponsePartition:
    alive = context.broker.image.brokers
    return DescribeTopicPartitionsResponsePartition(
        partition_index=partition.partition,
        leader_id=partition.leader if partition.leader in alive else _NO_LEADER,
        leader_epoch=partition.leader_epoch,
        replica_nodes=list(partition.replicas),
        isr_nodes=list(partition.isr),
        eligible_leader_replicas=list(partition.elr),
        last_known_elr=list(partition.last_known_elr),
        offline_replicas=[node_id for node_id in partition.replicas if node_id not in alive],
    )
