"""OffsetFetch (key 9): how far groups have read.

Before version 8 a request asks for one group, from then on for many (KIP-709). The shard knows only
the newer form, and topics by name; both differences end here.
"""

from kbroker.broker.gathering import gather
from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

_BATCHED_VERSION = 8
# From this version on topics go by their ids.
_TOPIC_ID_VERSION = 10
# Before this version the errors of a group stood at its partitions.
_GROUP_ERROR_VERSION = 2
_NO_OFFSET = -1


def begin(
    context: RequestContext, request: OffsetFetchRequest
) -> OffsetFetchResponse | Later[OffsetFetchResponse]:
    """Ask the shard of every group."""
    if context.api_version >= _BATCHED_VERSION:
        answers = [_fetch(context, group, request.require_stable) for group in request.groups]
        return gather(answers, lambda groups: OffsetFetchResponse(groups=groups))
    group = OffsetFetchRequestGroup(group_id=request.group_id, topics=None)
    if request.topics is not None:
        group.topics = [
            OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
            for topic in request.topics
        ]
    answer = _fetch(context, group, request.require_stable)
    return gather([answer], lambda groups: _in_old_form(context, request, groups[0]))


def _fetch(
    context: RequestContext, group: OffsetFetchRequestGroup, require_stable: bool
) -> OffsetFetchResponseGroup | Later[OffsetFetchResponseGroup]:
    groups = context.broker.groups
    unknown: list[OffsetFetchResponseTopics] = []
    by_id = context.api_version >= _TOPIC_ID_VERSION
    if by_id and group.topics is not None:
        unknown = _name_topics(context, group)

    def refuse(error: ErrorCode) -> OffsetFetchResponseGroup:
        return OffsetFetchResponseGroup(group_id=group.group_id, error_code=error)

    answer = groups.perform(
        group.group_id,
        lambda shard, ticket: shard.offset_fetch(group, require_stable, ticket),
        refuse,
    )
    if not by_id:
        return answer
    return gather([answer], lambda found: _with_ids(context, found[0], unknown))


def _name_topics(
    context: RequestContext, group: OffsetFetchRequestGroup
) -> list[OffsetFetchResponseTopics]:
    """Give the topics of a request their names; the answers for those that have none."""
    assert group.topics is not None
    unknown = []
    known = []
    for topic in group.topics:
        name = context.broker.image.topic_names.get(topic.topic_id)
        if name is not None:
            known.append(
                OffsetFetchRequestTopics(name=name, partition_indexes=topic.partition_indexes)
            )
            continue
        unknown.append(
            OffsetFetchResponseTopics(
                topic_id=topic.topic_id,
                partitions=[
                    OffsetFetchResponsePartitions(
                        partition_index=index,
                        committed_offset=_NO_OFFSET,
                        error_code=ErrorCode.UNKNOWN_TOPIC_ID,
                    )
                    for index in topic.partition_indexes
                ],
            )
        )
    group.topics = known
    return unknown


def _with_ids(
    context: RequestContext,
    answer: OffsetFetchResponseGroup,
    unknown: list[OffsetFetchResponseTopics],
) -> OffsetFetchResponseGroup:
    """The answer with ids for names; topics that are gone have none and are left out."""
    topics = []
    for topic in answer.topics:
        known = context.broker.image.topics.get(topic.name)
        if known is not None:
            topic.topic_id = known.topic_id
            topics.append(topic)
    answer.topics = topics + unknown
    return answer


def _in_old_form(
    context: RequestContext, request: OffsetFetchRequest, answer: OffsetFetchResponseGroup
) -> OffsetFetchResponse:
    error = answer.error_code
    if error and context.api_version < _GROUP_ERROR_VERSION:
        return OffsetFetchResponse(topics=_errors_at_partitions(request, error))
    return OffsetFetchResponse(
        error_code=error,
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=each.partition_index,
                        committed_offset=each.committed_offset,
                        committed_leader_epoch=each.committed_leader_epoch,
                        metadata=each.metadata,
                        error_code=each.error_code,
                    )
                    for each in topic.partitions
                ],
            )
            for topic in answer.topics
        ],
    )


def _errors_at_partitions(
    request: OffsetFetchRequest, error: int
) -> list[OffsetFetchResponseTopic]:
    return [
        OffsetFetchResponseTopic(
            name=topic.name,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=index, committed_offset=_NO_OFFSET, error_code=error
                )
                for index in topic.partition_indexes
            ],
        )
        for topic in request.topics or []
    ]
