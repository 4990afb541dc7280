"""OffsetCommit (key 8): remember how far a group has read.

Partitions that do not exist are refused one by one; the shard sees only the others.
"""

from kbroker.broker.requests import Later, RequestContext
from kbroker.model import ZERO_UUID
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)

# From this version on topics go by their ids.
_TOPIC_ID_VERSION = 10


def begin(
    context: RequestContext, request: OffsetCommitRequest
) -> OffsetCommitResponse | Later[OffsetCommitResponse]:
    """Answered when the offsets are committed."""
    groups = context.broker.groups
    caller = groups.caller(context)
    refused = _take_out_unknown(context, request)
    if refused and not request.topics:
        return OffsetCommitResponse(topics=refused)
    answer = groups.perform(
        request.group_id,
        lambda shard, ticket: shard.offset_commit(
            request, caller, ticket, groups.now(), groups.timestamp_ms()
        ),
        lambda error: _refusal(request, error),
    )
    if not refused:
        return answer
    if isinstance(answer, Later):
        return _WithRefusals(answer, refused)
    return _with_refusals(answer, refused)


def _take_out_unknown(
    context: RequestContext, request: OffsetCommitRequest
) -> list[OffsetCommitResponseTopic]:
    """Leave only what exists in ``request``, and give the refusals for the rest."""
    image = context.broker.image
    kept: list[OffsetCommitRequestTopic] = []
    refused = []
    for topic in request.topics:
        name: str | None = topic.name
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if context.api_version >= _TOPIC_ID_VERSION:
            name = image.topic_names.get(topic.topic_id)
            unknown = ErrorCode.UNKNOWN_TOPIC_ID
        known = None if name is None else image.topics.get(name)
        count = 0 if known is None else len(known.partitions)
        missing = [each for each in topic.partitions if not 0 <= each.partition_index < count]
        if known is not None:
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            # Whichever of both the request has, the record gets both: an offset must not outlive
            # its topic and be taken for that of another one of the same name.
            topic.name, topic.topic_id = known.name, known.topic_id
        if missing or known is None:
            refused.append(_refused_topic(topic, unknown, missing))
            topic.partitions = [each for each in topic.partitions if each not in missing]
        if topic.partitions:
            kept.append(topic)
    request.topics = kept
    return refused


def _refused_topic(
    topic: OffsetCommitRequestTopic,
    error: ErrorCode,
    partitions: list[OffsetCommitRequestPartition] | None = None,
) -> OffsetCommitResponseTopic:
    refused = topic.partitions if partitions is None else partitions
    return OffsetCommitResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id or ZERO_UUID,
        partitions=[
            OffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error)
            for each in topic.partitions
            if each in refused
        ],
    )


def _refusal(request: OffsetCommitRequest, error: ErrorCode) -> OffsetCommitResponse:
    return OffsetCommitResponse(topics=[_refused_topic(topic, error) for topic in request.topics])


class _WithRefusals(Later[OffsetCommitResponse]):
    """The shard's answer, and what it was not asked."""

    __slots__ = ("_answer", "_refused")

    def __init__(
        self, answer: Later[OffsetCommitResponse], refused: list[OffsetCommitResponseTopic]
    ) -> None:
        self._answer = answer
        self._refused = refused

    async def finish(self) -> OffsetCommitResponse:
        """Both together."""
        return _with_refusals(await self._answer.finish(), self._refused)


def _with_refusals(
    answer: OffsetCommitResponse, refused: list[OffsetCommitResponseTopic]
) -> OffsetCommitResponse:
    """Both together, each topic once: clients may keep only one answer for a topic."""
    answered = {(topic.name, topic.topic_id): topic for topic in answer.topics}
    for topic in refused:
        known = answered.get((topic.name, topic.topic_id))
        if known is None:
            answer.topics.append(topic)
        else:
            known.partitions += topic.partitions
    return answer
