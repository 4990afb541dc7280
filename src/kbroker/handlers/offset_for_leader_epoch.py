"""OffsetForLeaderEpoch (key 23): where an epoch ended, for readers who check their history (R7)."""

from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


def begin(
    context: RequestContext, request: OffsetForLeaderEpochRequest
) -> OffsetForLeaderEpochResponse:
    """Look up every partition that was asked for."""
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[_find(context, topic.topic, asked) for asked in topic.partitions],
            )
            for topic in request.topics
        ]
    )


def _find(context: RequestContext, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    partition, error = context.broker.partitions.find(topic, asked.partition)
    if partition is None:
        return EpochEndOffset(partition=asked.partition, error_code=error)
    stale = partition.check_leader_epoch(asked.current_leader_epoch)
    if stale is not None:
        return EpochEndOffset(partition=asked.partition, error_code=ErrorCode[stale])
    leader_epoch, end_offset = partition.end_offset_for_epoch(asked.leader_epoch)
    return EpochEndOffset(
        partition=asked.partition, leader_epoch=leader_epoch, end_offset=end_offset
    )
