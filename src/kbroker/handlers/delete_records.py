"""DeleteRecords (key 21): move the log start, so that what lies before it is gone."""

from kbroker.broker.refusals import REFUSED, why
from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

_NO_LOW_WATERMARK = -1


def begin(context: RequestContext, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    """Move the log start of every partition that was named."""
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[_delete(context, topic.name, asked) for asked in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _delete(
    context: RequestContext, topic: str, asked: DeleteRecordsPartition
) -> DeleteRecordsPartitionResult:
    partition, error = context.broker.partitions.find(topic, asked.partition_index)
    low_watermark = _NO_LOW_WATERMARK
    if topic in context.broker.internal_topics:
        error = ErrorCode.INVALID_TOPIC_EXCEPTION
    elif partition is not None:
        config = partition.log.config
        if config.compact and not config.delete:
            # Kafka's DeleteRecords is about retention, which such a topic does not have.
            error = ErrorCode.POLICY_VIOLATION
        else:
            try:
                low_watermark = partition.delete_records(asked.offset)
            except REFUSED as refused:
                error = why(refused).error
    return DeleteRecordsPartitionResult(
        partition_index=asked.partition_index, low_watermark=low_watermark, error_code=error
    )
