"""TxnOffsetCommit (key 28): remember how far a group has read, if a transaction is committed.

Partitions that do not exist are refused one by one; the shard sees only the others. From version 5
on this also takes the group's partition of ``__consumer_offsets`` into the transaction (KIP-890).
"""

from kbroker.broker.gathering import gather
from kbroker.broker.requests import Later, RequestContext
from kbroker.broker.transactional_offsets import TransactionalOffsets
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

# From this version on topics go by their ids (KIP-1319).
_TOPIC_ID_VERSION = 6
# Producers before this version crash when they are told that a coordinator is loading (KAFKA-7296).
_LOADING_VERSION = 2


def begin(
    context: RequestContext, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse | Later[TxnOffsetCommitResponse]:
    """Answered when the offsets are written; they count when the transaction is committed."""
    if not request.group_id:
        return _refusal(request, ErrorCode.INVALID_GROUP_ID)
    refused = _take_out_unknown(context, request)
    if refused and not request.topics:
        return TxnOffsetCommitResponse(topics=refused)
    answer = _commit(context, request)

    def with_the_refused(answers: list[TxnOffsetCommitResponse]) -> TxnOffsetCommitResponse:
        (response,) = answers
        response.topics += refused
        return response

    return gather([answer], with_the_refused) if refused else answer


def _commit(
    context: RequestContext, request: TxnOffsetCommitRequest
) -> TxnOffsetCommitResponse | Later[TxnOffsetCommitResponse]:
    groups, transactions = context.broker.groups, context.broker.transactions
    caller = groups.caller(context)

    def refuse(error: ErrorCode) -> TxnOffsetCommitResponse:
        is_old = context.api_version < _LOADING_VERSION
        if is_old and error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            error = ErrorCode.COORDINATOR_NOT_AVAILABLE
        return _refusal(request, error)

    return TransactionalOffsets(
        groups,
        transactions,
        request.group_id,
        transactions.writer(request.transactional_id, request.producer_id, request.producer_epoch),
        context.api_version,
        lambda shard, ticket: shard.txn_offset_commit(
            request, caller, ticket, groups.timestamp_ms()
        ),
        refuse,
    ).begin()


def _take_out_unknown(
    context: RequestContext, request: TxnOffsetCommitRequest
) -> list[TxnOffsetCommitResponseTopic]:
    """Leave only what exists in ``request``, and give the refusals for the rest."""
    image = context.broker.image
    kept: list[TxnOffsetCommitRequestTopic] = []
    refused = []
    for topic in request.topics:
        name: str | None = topic.name
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if context.api_version >= _TOPIC_ID_VERSION:
            name = image.topic_names.get(topic.topic_id)
            unknown = ErrorCode.UNKNOWN_TOPIC_ID
        known = None if name is None else image.topics.get(name)
        if known is None:
            refused.append(_refused_topic(topic, unknown, topic.partitions))
            continue
        # The record gets both, so that an offset is not taken for that of a later topic.
        topic.name, topic.topic_id = known.name, known.topic_id
        count = len(known.partitions)
        missing = [each for each in topic.partitions if not 0 <= each.partition_index < count]
        if missing:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refused.append(_refused_topic(topic, error, missing))
            topic.partitions = [each for each in topic.partitions if each not in missing]
        if topic.partitions:
            kept.append(topic)
    request.topics = kept
    return refused


def _refused_topic(
    topic: TxnOffsetCommitRequestTopic,
    error: ErrorCode,
    partitions: list[TxnOffsetCommitRequestPartition],
) -> TxnOffsetCommitResponseTopic:
    return TxnOffsetCommitResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        partitions=[
            TxnOffsetCommitResponsePartition(partition_index=each.partition_index, error_code=error)
            for each in partitions
        ],
    )


def _refusal(request: TxnOffsetCommitRequest, error: ErrorCode) -> TxnOffsetCommitResponse:
    topics = [_refused_topic(topic, error, topic.partitions) for topic in request.topics]
    return TxnOffsetCommitResponse(topics=topics)
