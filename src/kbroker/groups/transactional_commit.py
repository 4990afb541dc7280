"""Offsets that a producer commits inside its transaction: for whom it may, and what is written.

A producer that says which member it acts for is held to it (KIP-447): a zombie, whose partitions
another member reads by now, must not move their offsets (T15). Producers older than that name
nobody; of two such producers their transactional id alone decides, so they are believed.
"""

from kbroker.groups.classic_group import ClassicGroup, ClassicState
from kbroker.groups.consumer_group import ConsumerGroup
from kbroker.groups.consumer_offset_rules import check_consumer_commit, check_consumer_commit_of
from kbroker.groups.group_records import GroupRecord
from kbroker.groups.offsets import DEFAULT_RETENTION, commit_record
from kbroker.wire import ErrorCode
from kbroker.wire.messages.offset_commit_record import OffsetCommitKey
from kbroker.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

# From this version on clients know GROUP_ID_NOT_FOUND and STALE_MEMBER_EPOCH (KIP-1319); before,
# ILLEGAL_GENERATION stood for both.
_PRECISE_ERRORS_FROM = 6
_IMPRECISE = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.STALE_MEMBER_EPOCH)


def check_transactional_commit(
    classic: ClassicGroup | None,
    consumer: ConsumerGroup | None,
    request: TxnOffsetCommitRequest,
    version: int,
) -> ErrorCode:
    """Whether the producer may commit for the member it names, if any; one group is None."""
    if consumer is not None:
        error = _check_consumer(consumer, request, version)
    else:
        error = _check_classic(classic, request)
    if error in _IMPRECISE and version < _PRECISE_ERRORS_FROM:
        return ErrorCode.ILLEGAL_GENERATION
    return error


def _check_classic(group: ClassicGroup | None, request: TxnOffsetCommitRequest) -> ErrorCode:
    generation = request.generation_id_or_member_epoch
    if group is None:
        return ErrorCode.NONE if generation < 0 else ErrorCode.GROUP_ID_NOT_FOUND
    if generation < 0 and group.state is ClassicState.EMPTY:
        return ErrorCode.NONE
    if generation < 0 and not request.member_id and request.group_instance_id is None:
        return ErrorCode.NONE
    error = group.check_member(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    # Unlike a plain commit, one inside a transaction is taken while the group rebalances: it is
    # about records that were read in this generation, and nobody reads them again before it ends.
    return ErrorCode.NONE if generation == group.generation else ErrorCode.ILLEGAL_GENERATION


def _check_consumer(
    group: ConsumerGroup, request: TxnOffsetCommitRequest, version: int
) -> ErrorCode:
    member_id, epoch = request.member_id, request.generation_id_or_member_epoch
    error = check_consumer_commit(
        group,
        member_id=member_id,
        instance_id=request.group_instance_id,
        member_epoch=epoch,
        is_transactional=True,
        api_version=version,
    )
    if error is not ErrorCode.NONE:
        return error
    for topic in request.topics:
        for each in topic.partitions:
            error = check_consumer_commit_of(
                group,
                member_id=member_id,
                member_epoch=epoch,
                partition=(topic.topic_id, each.partition_index),
            )
            if error is not ErrorCode.NONE:
                return error
    return ErrorCode.NONE


def transactional_commit(
    request: TxnOffsetCommitRequest, *, now_ms: int, metadata_max_bytes: int
) -> tuple[list[GroupRecord], TxnOffsetCommitResponse]:
    """The records of a commit that was allowed, and its answer; every topic has its name and id."""
    records: list[GroupRecord] = []
    response = TxnOffsetCommitResponse()
    for topic in request.topics:
        results = TxnOffsetCommitResponseTopic(name=topic.name, topic_id=topic.topic_id)
        response.topics.append(results)
        for each in topic.partitions:
            result = TxnOffsetCommitResponsePartition(partition_index=each.partition_index)
            results.partitions.append(result)
            if len(each.committed_metadata or "") > metadata_max_bytes:
                result.error_code = ErrorCode.OFFSET_METADATA_TOO_LARGE
                continue
            key = OffsetCommitKey(
                group=request.group_id, topic=topic.name, partition=each.partition_index
            )
            records.append(commit_record(key, each, topic.topic_id, DEFAULT_RETENTION, now_ms))
    return records, response


def transactional_commit_refused(
    request: TxnOffsetCommitRequest, error: ErrorCode
) -> TxnOffsetCommitResponse:
    """The answer to a commit of which nothing was taken."""
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=each.partition_index, error_code=error
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
