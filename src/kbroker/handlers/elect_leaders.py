"""ElectLeaders (key 43): give partitions the leader they should have (KIP-183, KIP-460)."""

from kbroker.broker.carrying_out import NotCarriedOut
from kbroker.broker.requests import RequestContext
from kbroker.cluster import ElectionType, Refused
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

_ELECTION_TYPES = frozenset(ElectionType)


async def handle(context: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    """Elect; an error of the whole request is told for every partition that was named."""
    if request.election_type not in _ELECTION_TYPES:
        message = f"Unknown election type {request.election_type}"
        return _refused(request, Refused("INVALID_REQUEST", message))
    asked = None
    if request.topic_partitions is not None:
        asked = [(topic.topic, topic.partitions) for topic in request.topic_partitions]
    try:
        results = await context.broker.administration.elect_leaders(
            ElectionType(request.election_type),
            asked,
            deadline=context.received_at + request.timeout_ms / 1000,
        )
    except NotCarriedOut as error:
        return _refused(request, Refused(error.kafka_error, str(error)))
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(
                topic=name,
                partition_result=[_result(index, answer) for index, answer in answers.items()],
            )
            for name, answers in results.items()
        ]
    )


def _result(index: int, answer: Refused | None) -> PartitionResult:
    if answer is None:
        return PartitionResult(partition_id=index, error_message=None)
    return PartitionResult(
        partition_id=index, error_code=ErrorCode[answer.error], error_message=answer.message
    )


def _refused(request: ElectLeadersRequest, refused: Refused) -> ElectLeadersResponse:
    return ElectLeadersResponse(
        error_code=ErrorCode[refused.error],
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[_result(index, refused) for index in topic.partitions],
            )
            for topic in request.topic_partitions or ()
        ],
    )
