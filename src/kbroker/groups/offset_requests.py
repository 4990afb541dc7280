"""Requests about offsets: whom the group allows them, and what the store makes of them.

A group that nobody knows is created by a commit without a generation; that is how consumers
that assign their partitions themselves keep their place (a simple group).
"""

from functools import partial

from kbroker.groups.caller import Caller
from kbroker.groups.classic_answers import GroupOutcome, reply
from kbroker.groups.classic_group import ClassicState
from kbroker.groups.classic_groups import ClassicGroups
from kbroker.groups.committed_offset import CommittedOffset
from kbroker.groups.consumer_groups import ConsumerGroups
from kbroker.groups.consumer_offset_rules import (
    check_consumer_commit,
    check_consumer_commit_of,
    check_consumer_fetch,
)
from kbroker.groups.group_records import GroupRecord
from kbroker.groups.moment import Moment
from kbroker.groups.offset_rules import check_commit, check_delete, kept_since
from kbroker.groups.offsets import OffsetStore, commit_refused
from kbroker.groups.topics_view import TopicsView
from kbroker.groups.transactional_commit import (
    check_transactional_commit,
    transactional_commit,
    transactional_commit_refused,
)
from kbroker.machine import Outcome, Ticket
from kbroker.model import ZERO_UUID
from kbroker.wire import ErrorCode
from kbroker.wire.messages.offset_commit import OffsetCommitRequest
from kbroker.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from kbroker.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchResponseGroup
from kbroker.wire.messages.txn_offset_commit import TxnOffsetCommitRequest


class OffsetRequests:
    """The offsets of a shard as its groups let others see and change them."""

    def __init__(
        self,
        store: OffsetStore,
        classic: ClassicGroups,
        consumer: ConsumerGroups,
        topics: TopicsView,
    ) -> None:
        self._store = store
        self._topics = topics
        self._classic = classic
        self._consumer = consumer

    # --- requests ----------------------------------------------------------------

    def commit(
        self,
        request: OffsetCommitRequest,
        caller: Caller,
        ticket: Ticket,
        at: Moment,
        metadata_max_bytes: int,
    ) -> GroupOutcome:
        """OffsetCommit."""
        error = self._check_commit(request, caller.api_version)
        if error is not ErrorCode.NONE:
            return reply(ticket, commit_refused(request, error))
        group = self._classic.get(request.group_id)
        if group is not None:
            self._classic.committed(group, request.member_id, at)
        records, response = self._store.commit(
            request, now_ms=at.now_ms, metadata_max_bytes=metadata_max_bytes
        )
        return Outcome(tuple(records), ((ticket, response),))

    def _check_commit(self, request: OffsetCommitRequest, version: int) -> ErrorCode:
        group = self._consumer.get(request.group_id)
        if group is None:
            return check_commit(self._classic.get(request.group_id), request, version)
        member_id, epoch = request.member_id, request.generation_id_or_member_epoch
        error = check_consumer_commit(
            group,
            member_id=member_id,
            instance_id=request.group_instance_id,
            member_epoch=epoch,
            is_transactional=False,
            api_version=version,
        )
        if error is not ErrorCode.NONE:
            return error
        for topic in request.topics:
            # Old requests have no topic ids; the names are ours to look up.
            topic_id = self._topics.topic_id(topic.name) or ZERO_UUID
            for each in topic.partitions:
                error = check_consumer_commit_of(
                    group,
                    member_id=member_id,
                    member_epoch=epoch,
                    partition=(topic_id, each.partition_index),
                )
                if error is not ErrorCode.NONE:
                    return error
        return ErrorCode.NONE

    def commit_in_transaction(
        self,
        request: TxnOffsetCommitRequest,
        caller: Caller,
        ticket: Ticket,
        now_ms: int,
        metadata_max_bytes: int,
    ) -> GroupOutcome:
        """TxnOffsetCommit; the records are to become part of the producer's transaction."""
        error = check_transactional_commit(
            self._classic.get(request.group_id),
            self._consumer.get(request.group_id),
            request,
            caller.api_version,
        )
        if error is not ErrorCode.NONE:
            return reply(ticket, transactional_commit_refused(request, error))
        records, response = transactional_commit(
            request, now_ms=now_ms, metadata_max_bytes=metadata_max_bytes
        )
        return Outcome(tuple(records), ((ticket, response),))

    def fetch(
        self, request: OffsetFetchRequestGroup, require_stable: bool, ticket: Ticket
    ) -> GroupOutcome:
        """OffsetFetch of one group."""
        group = self._consumer.get(request.group_id)
        if group is not None:
            error = check_consumer_fetch(
                group, member_id=request.member_id, member_epoch=request.member_epoch
            )
            if error is not ErrorCode.NONE:
                refusal = OffsetFetchResponseGroup(group_id=request.group_id, error_code=error)
                return reply(ticket, refusal)
        return reply(ticket, self._store.fetch(request, require_stable=require_stable))

    def delete(self, request: OffsetDeleteRequest, ticket: Ticket) -> GroupOutcome:
        """OffsetDelete."""
        group_id = request.group_id
        group = self._classic.get(group_id)
        error = ErrorCode.NONE
        if not group_id:
            error = ErrorCode.INVALID_GROUP_ID
        elif group is not None:
            error = check_delete(group)
        elif group_id not in self._consumer:
            error = ErrorCode.GROUP_ID_NOT_FOUND
        if error is not ErrorCode.NONE:
            return reply(ticket, OffsetDeleteResponse(error_code=error))
        records, response = self._store.delete(request, partial(self._is_subscribed, group_id))
        return Outcome(tuple(records), ((ticket, response),))

    def _is_subscribed(self, group_id: str, topic: str) -> bool:
        group = self._classic.get(group_id)
        if group is not None:
            return group.is_subscribed(topic)
        return self._consumer.is_subscribed(group_id, topic)

    # --- expiry ------------------------------------------------------------------

    def expired(
        self, group_id: str, now_ms: int, retention_ms: int
    ) -> tuple[list[GroupRecord], bool]:
        """The tombstones of offsets nobody needs, and whether nothing is left of the group."""
        records = self._store.expired(
            group_id,
            partial(self._kept_since, group_id),
            now_ms=now_ms,
            retention_ms=retention_ms,
        )
        left_count = sum(1 for _ in self._store.of_group(group_id)) - len(records)
        is_bare = (
            left_count == 0
            and not self._store.is_pending(group_id)
            and not self._has_members(group_id)
        )
        return records, is_bare

    def _kept_since(self, group_id: str, topic: str, committed: CommittedOffset) -> int | None:
        group = self._classic.get(group_id)
        if group is not None:
            return kept_since(group, topic, committed)
        # A consumer group does not write down when it became empty, so the commit counts.
        if self._consumer.is_subscribed(group_id, topic):
            return None
        return committed.commit_timestamp_ms

    def _has_members(self, group_id: str) -> bool:
        group = self._classic.get(group_id)
        if group is not None:
            return group.state is not ClassicState.EMPTY or bool(group.pending_members)
        consumer_group = self._consumer.get(group_id)
        return consumer_group is not None and bool(consumer_group.members)
