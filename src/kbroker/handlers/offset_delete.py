"""OffsetDelete (key 47): forget how far a group has read in some partitions.

Partitions that do not exist are refused one by one; the shard sees only the others.
"""

from kbroker.broker.gathering import gather
from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def begin(
    context: RequestContext, request: OffsetDeleteRequest
) -> OffsetDeleteResponse | Later[OffsetDeleteResponse]:
    """Answered when the offsets are forgotten for good."""

    def refuse(error: ErrorCode) -> OffsetDeleteResponse:
        return OffsetDeleteResponse(error_code=error)

    refused = _take_out_unknown(context, request)
    answer = context.broker.groups.perform(
        request.group_id, lambda shard, ticket: shard.offset_delete(request, ticket), refuse
    )
    return gather([answer], lambda answers: _with_refusals(answers[0], refused))


def _take_out_unknown(
    context: RequestContext, request: OffsetDeleteRequest
) -> list[OffsetDeleteResponseTopic]:
    """Leave only what exists in ``request``, and give the refusals for the rest."""
    refused = []
    for topic in request.topics:
        known = context.broker.image.topics.get(topic.name)
        count = 0 if known is None else len(known.partitions)
        missing = [each for each in topic.partitions if not 0 <= each.partition_index < count]
        if missing:
            partitions = [
                OffsetDeleteResponsePartition(
                    partition_index=each.partition_index,
                    error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                )
                for each in missing
            ]
            refused.append(OffsetDeleteResponseTopic(name=topic.name, partitions=partitions))
            topic.partitions = [each for each in topic.partitions if each not in missing]
    request.topics = [topic for topic in request.topics if topic.partitions]
    return refused


def _with_refusals(
    answer: OffsetDeleteResponse, refused: list[OffsetDeleteResponseTopic]
) -> OffsetDeleteResponse:
    """Both together, each topic once; an error of the whole request says all there is to say."""
    if answer.error_code:
        return answer
    answered = {topic.name: topic for topic in answer.topics}
    for topic in refused:
        known = answered.get(topic.name)
        if known is None:
            answer.topics.append(topic)
        else:
            known.partitions += topic.partitions
    return answer
