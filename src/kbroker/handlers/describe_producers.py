"""DescribeProducers (key 61): who writes to a partition idempotently or with transactions."""

from kbroker.broker.requests import RequestContext
from kbroker.cluster import InvalidTopicName, Refused, validate_topic_name
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)


def begin(context: RequestContext, request: DescribeProducersRequest) -> DescribeProducersResponse:
    """Describe the producers of every partition that was named."""
    response = DescribeProducersResponse()
    for topic in request.topics:
        refused = _topic_refusal(context, topic.name)
        response.topics.append(
            TopicResponse(
                name=topic.name,
                partitions=[
                    _describe(context, topic.name, index)
                    if refused is None
                    else PartitionResponse(
                        partition_index=index,
                        error_code=ErrorCode[refused.error],
                        error_message=refused.message,
                    )
                    for index in topic.partition_indexes
                ],
            )
        )
    return response


def _topic_refusal(context: RequestContext, name: str) -> Refused | None:
    try:
        validate_topic_name(name)
    except InvalidTopicName as error:
        return Refused(error.kafka_error, str(error))
    if name not in context.broker.image.topics:
        message = "This server does not host this topic-partition."
        return Refused("UNKNOWN_TOPIC_OR_PARTITION", message)
    return None


def _describe(context: RequestContext, topic: str, index: int) -> PartitionResponse:
    partition, error = context.broker.partitions.find(topic, index)
    if partition is None:
        return PartitionResponse(partition_index=index, error_code=error)
    if partition.offline:
        return PartitionResponse(partition_index=index, error_code=ErrorCode.KAFKA_STORAGE_ERROR)
    return PartitionResponse(
        partition_index=index,
        active_producers=[
            ProducerState(
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                last_sequence=producer.last_sequence,
                last_timestamp=producer.last_timestamp_ms,
                coordinator_epoch=producer.coordinator_epoch,
                current_txn_start_offset=producer.current_transaction_start_offset,
            )
            for producer in partition.log.active_producers()
        ],
    )
