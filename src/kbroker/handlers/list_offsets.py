"""ListOffsets (key 2): offsets by place (earliest, latest) or by time."""

from kbroker.broker.partition import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
)
from kbroker.broker.refusals import REFUSED, why
from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

# The place a negative timestamp stands for, and the version that brought it.
_SINCE_VERSION = {
    LATEST: 0,
    EARLIEST: 0,
    MAX_TIMESTAMP: 7,  # KIP-734
    EARLIEST_LOCAL: 8,  # KIP-405
    LATEST_TIERED: 9,  # KIP-1005
    EARLIEST_PENDING_UPLOAD: 11,  # KIP-1023
}


def begin(context: RequestContext, request: ListOffsetsRequest) -> ListOffsetsResponse:
    """Look up every partition that was asked for."""
    response = ListOffsetsResponse()
    # A partition that is named twice has no answer (Kafka: ListOffsetsRequest.duplicatePartitions).
    seen: set[tuple[str, int]] = set()
    repeated: set[tuple[str, int]] = set()
    for topic in request.topics:
        for asked in topic.partitions:
            key = (topic.name, asked.partition_index)
            (repeated if key in seen else seen).add(key)
    for topic in request.topics:
        answer = ListOffsetsTopicResponse(name=topic.name)
        response.topics.append(answer)
        for asked in topic.partitions:
            if (topic.name, asked.partition_index) in repeated:
                result = _refusal(asked, ErrorCode.INVALID_REQUEST)
            else:
                result = _find(context, request, topic.name, asked)
            answer.partitions.append(result)
    return response


def _find(
    context: RequestContext, request: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    timestamp = asked.timestamp
    if timestamp < 0 and _SINCE_VERSION.get(timestamp, 2**15) > context.api_version:
        return _refusal(asked, ErrorCode.UNSUPPORTED_VERSION)
    partition, error = context.broker.partitions.find(topic, asked.partition_index)
    if partition is None:
        return _refusal(asked, error)
    stale = partition.check_leader_epoch(asked.current_leader_epoch)
    if stale is not None:
        return _refusal(asked, ErrorCode[stale])
    isolation_level = request.isolation_level if request.replica_id < 0 else None
    try:
        found = partition.find_offset(timestamp, isolation_level)
    except REFUSED as refused:
        return _refusal(asked, why(refused).error)
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        timestamp=found.timestamp_ms,
        offset=found.offset,
        leader_epoch=found.leader_epoch,
    )


def _refusal(asked: ListOffsetsPartition, error: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=error)
