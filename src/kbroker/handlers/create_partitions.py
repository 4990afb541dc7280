"""CreatePartitions (key 37): give topics more partitions; there are never fewer."""

from kbroker.broker.carrying_out import NotCarriedOut
from kbroker.broker.requests import RequestContext
from kbroker.cluster import MorePartitions, Refused
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)


async def handle(
    context: RequestContext, request: CreatePartitionsRequest
) -> CreatePartitionsResponse:
    """Add partitions; they can be written to when the answer leaves."""
    try:
        results = await context.broker.administration.create_partitions(
            [_more_partitions(topic) for topic in request.topics],
            deadline=context.received_at + request.timeout_ms / 1000,
            validate_only=request.validate_only,
        )
    except NotCarriedOut as error:
        refused = Refused(error.kafka_error, str(error))
        results = dict.fromkeys((topic.name for topic in request.topics), refused)
    return CreatePartitionsResponse(
        results=[
            CreatePartitionsTopicResult(name=name)
            if result is None
            else CreatePartitionsTopicResult(
                name=name, error_code=ErrorCode[result.error], error_message=result.message
            )
            for name, result in results.items()
        ]
    )


def _more_partitions(topic: CreatePartitionsTopic) -> MorePartitions:
    assignments = None
    if topic.assignments is not None:
        assignments = tuple(tuple(one.broker_ids) for one in topic.assignments)
    return MorePartitions(topic.name, topic.count, assignments)
