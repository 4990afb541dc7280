"""AlterPartitionReassignments (key 45): other replicas for partitions (KIP-455)."""

from kbroker.broker.carrying_out import NotCarriedOut
from kbroker.broker.requests import RequestContext
from kbroker.cluster import Reassignment, Refused
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


async def handle(
    context: RequestContext, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """Reassign; each partition has an answer of its own."""
    if not request.topics:
        return AlterPartitionReassignmentsResponse()
    asked = [
        Reassignment(
            topic.name,
            partition.partition_index,
            None if partition.replicas is None else tuple(partition.replicas),
        )
        for topic in request.topics
        for partition in topic.partitions
    ]
    response = AlterPartitionReassignmentsResponse(
        error_message=None,
        allow_replication_factor_change=request.allow_replication_factor_change,
    )
    try:
        results = await context.broker.administration.reassign_partitions(
            asked, deadline=context.received_at + request.timeout_ms / 1000
        )
    except NotCarriedOut as error:
        response.error_code = ErrorCode[error.kafka_error]
        response.error_message = str(error)
        results = (Refused(error.kafka_error, str(error)),) * len(asked)
    answers = iter(zip(asked, results, strict=True))
    response.responses = [
        ReassignableTopicResponse(
            name=topic.name, partitions=[_answer(*next(answers)) for _ in topic.partitions]
        )
        for topic in request.topics
    ]
    return response


def _answer(asked: Reassignment, refused: Refused | None) -> ReassignablePartitionResponse:
    if refused is None:
        return ReassignablePartitionResponse(partition_index=asked.partition, error_message=None)
    return ReassignablePartitionResponse(
        partition_index=asked.partition,
        error_code=ErrorCode[refused.error],
        error_message=refused.message,
    )
