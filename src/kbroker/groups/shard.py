"""All groups of one partition of __consumer_offsets.

A shard answers the group APIs for the group ids that fall on its partition. It only routes: who
is a member of what is decided in classic_groups and consumer_groups, what was committed is kept
in offsets. A group id names a classic group or a consumer group, never both.

How the shell drives it:

    outcome = shard.join_group(request, caller, ticket, now, now_ms, new_member_id)
    append outcome.records, then shard.replay(record) for each, all before the next call
    send outcome.replies once the records, and all records before them, are committed
    call on_time when next_deadline says so

``now`` is monotonic seconds, ``now_ms`` the wall clock, which stands in records. A
``new_member_id`` is Kafka's: the instance id, or the client id if there is none, a dash, and a
uuid. If an append fails the shell drops the shard and loads it anew; tickets that are still parked
are answered NOT_COORDINATOR by the shell.

Durable state changes in `replay` alone: offsets, assignments, what the records say. What a
failover may lose (parked requests, sessions, a rebalance under way) the requests change directly.
"""

from collections.abc import Collection
from functools import partial

from kbroker.groups.caller import Caller
from kbroker.groups.classic_answers import GroupOutcome, join_refused, reply
from kbroker.groups.classic_group import ClassicGroup, ClassicState
from kbroker.groups.classic_groups import ClassicGroups
from kbroker.groups.describing import describe_classic, list_classic, matches, not_described
from kbroker.groups.group_records import GroupRecord, tombstone
from kbroker.groups.moment import Moment
from kbroker.groups.offset_rules import check_commit, check_delete, kept_since
from kbroker.groups.offsets import OffsetStore, commit_refused
from kbroker.groups.settings import GroupSettings
from kbroker.groups.topics_view import TopicsView
from kbroker.machine import Outcome, Ticket
from kbroker.wire import ErrorCode
from kbroker.wire.messages.delete_groups import DeletableGroupResult
from kbroker.wire.messages.describe_groups import DescribedGroup
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kbroker.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kbroker.wire.messages.join_group import JoinGroupRequest
from kbroker.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from kbroker.wire.messages.legacy_offset_commit_record import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
)
from kbroker.wire.messages.list_groups import ListedGroup
from kbroker.wire.messages.offset_commit import OffsetCommitRequest
from kbroker.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from kbroker.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from kbroker.wire.messages.offset_fetch import OffsetFetchRequestGroup
from kbroker.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


class GroupShard:
    """The classic and consumer groups of one partition, and their offsets."""

    def __init__(self, settings: GroupSettings, topics: TopicsView) -> None:
        self._settings = settings
        self._topics = topics
        self._offsets = OffsetStore()
        self._classic = ClassicGroups(settings)
        self._next_expiration: float | None = None

    def configure(self, settings: GroupSettings) -> None:
        """Go on with other settings, because a config changed."""
        self._settings = settings
        self._classic.configure(settings)

    # --- membership --------------------------------------------------------------

    def join_group(
        self,
        request: JoinGroupRequest,
        caller: Caller,
        ticket: Ticket,
        now: float,
        now_ms: int,
        new_member_id: str,
    ) -> GroupOutcome:
        """JoinGroup; most often the answer comes with a later outcome."""
        if not request.group_id:
            refusal = join_refused(ErrorCode.INVALID_GROUP_ID, request.member_id)
            return reply(ticket, refusal)
        at = Moment(now, now_ms)
        return self._classic.join(request, caller, ticket, at, new_member_id)

    def sync_group(
        self,
        request: SyncGroupRequest,
        caller: Caller,
        ticket: Ticket,
        now: float,
        now_ms: int,
    ) -> GroupOutcome:
        """SyncGroup; members wait for the leader's."""
        if not request.group_id:
            return reply(ticket, SyncGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID))
        return self._classic.sync(request, caller, ticket, Moment(now, now_ms))

    def heartbeat(
        self,
        request: HeartbeatRequest,
        caller: Caller,
        ticket: Ticket,
        now: float,
        now_ms: int,
    ) -> GroupOutcome:
        """Heartbeat of a member that speaks the classic protocol."""
        if not request.group_id:
            return reply(ticket, HeartbeatResponse(error_code=ErrorCode.INVALID_GROUP_ID))
        return self._classic.heartbeat(request, ticket, Moment(now, now_ms))

    def leave_group(
        self,
        request: LeaveGroupRequest,
        caller: Caller,
        ticket: Ticket,
        now: float,
        now_ms: int,
    ) -> GroupOutcome:
        """LeaveGroup."""
        if not request.group_id:
            return reply(ticket, LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID))
        return self._classic.leave(request, caller, ticket, Moment(now, now_ms))

    # --- offsets -----------------------------------------------------------------

    def offset_commit(
        self,
        request: OffsetCommitRequest,
        caller: Caller,
        ticket: Ticket,
        now: float,
        now_ms: int,
    ) -> GroupOutcome:
        """OffsetCommit; topics have their names here, whatever the request named them by."""
        group = self._classic.get(request.group_id)
        error = check_commit(group, request, caller.api_version)
        if error is not ErrorCode.NONE:
            return reply(ticket, commit_refused(request, error))
        if group is not None:
            self._classic.committed(group, request.member_id, Moment(now, now_ms))
        records, response = self._offsets.commit(
            request,
            now_ms=now_ms,
            metadata_max_bytes=self._settings.offset_metadata_max_bytes,
        )
        return Outcome(tuple(records), ((ticket, response),))

    def offset_fetch(
        self, request: OffsetFetchRequestGroup, require_stable: bool, ticket: Ticket
    ) -> GroupOutcome:
        """OffsetFetch of one group; a group that nobody knows committed nothing."""
        return reply(ticket, self._offsets.fetch(request, require_stable=require_stable))

    def offset_delete(self, request: OffsetDeleteRequest, ticket: Ticket) -> GroupOutcome:
        """OffsetDelete."""
        group = self._classic.get(request.group_id)
        if not request.group_id:
            error = ErrorCode.INVALID_GROUP_ID
        elif group is None:
            error = ErrorCode.GROUP_ID_NOT_FOUND
        else:
            error = check_delete(group)
        if error is not ErrorCode.NONE or group is None:
            return reply(ticket, OffsetDeleteResponse(error_code=error))
        records, response = self._offsets.delete(request, group.is_subscribed)
        return Outcome(tuple(records), ((ticket, response),))

    # --- administration ----------------------------------------------------------

    def describe_group(self, group_id: str, caller: Caller) -> DescribedGroup:
        """DescribeGroups for one group."""
        group = self._classic.get(group_id)
        if group is not None:
            return describe_classic(group)
        return not_described(group_id, caller.api_version, f"Group {group_id} not found.")

    def list_groups(self, states: Collection[str], types: Collection[str]) -> list[ListedGroup]:
        """ListGroups: all groups in one of ``states`` and of one of ``types``; empty means any."""
        listed = [list_classic(group) for group in self._classic]
        return [each for each in listed if matches(each, states, types)]

    def delete_group(self, group_id: str, ticket: Ticket) -> GroupOutcome:
        """DeleteGroups for one group, with all its offsets."""
        group = self._classic.get(group_id)
        error = ErrorCode.NONE
        records: tuple[GroupRecord, ...] = ()
        if group is None:
            error = ErrorCode.GROUP_ID_NOT_FOUND
        elif group.state is not ClassicState.EMPTY:
            error = ErrorCode.NON_EMPTY_GROUP
        else:
            records = (*self._offsets.tombstones(group_id), _classic_tombstone(group_id))
        return Outcome(
            records, ((ticket, DeletableGroupResult(group_id=group_id, error_code=error)),)
        )

    # --- time --------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        """When to call `on_time`, or None if nothing is waited for."""
        deadlines = (self._classic.next_deadline(), self._next_expiration)
        return min((each for each in deadlines if each is not None), default=None)

    def on_time(self, now: float, now_ms: int) -> GroupOutcome:
        """Do what is due: sessions, rebalances, and now and then expired offsets."""
        outcome = self._classic.on_time(Moment(now, now_ms))
        if self._next_expiration is not None and self._next_expiration <= now:
            self._schedule_expiration(now)
            outcome += Outcome(tuple(self._expire(now_ms)))
        return outcome

    def on_topics_changed(self, now: float, now_ms: int) -> GroupOutcome:
        """Look at the topics again, because some came, went or grew."""
        return Outcome()

    def on_topics_deleted(self, topics: Collection[str]) -> GroupOutcome:
        """Forget the offsets of topics that are gone, lest a topic of the same name finds them."""
        return Outcome(tuple(self._offsets.tombstones_of_topics(topics)))

    def _schedule_expiration(self, now: float) -> None:
        interval_ms = self._settings.offsets_retention_check_interval_ms
        self._next_expiration = now + interval_ms / 1000

    def _expire(self, now_ms: int) -> list[GroupRecord]:
        """Tombstones of offsets that nobody needs, and of groups that have nothing left."""
        records: list[GroupRecord] = []
        for group in self._classic:
            expired = self._offsets.expired(
                group.group_id,
                partial(kept_since, group),
                now_ms=now_ms,
                retention_ms=self._settings.offsets_retention_ms,
            )
            records += expired
            if self._is_left(group, len(expired)):
                records.append(_classic_tombstone(group.group_id))
        return records

    def _is_left(self, group: ClassicGroup, expired_count: int) -> bool:
        offset_count = sum(1 for _ in self._offsets.of_group(group.group_id))
        return (
            group.state is ClassicState.EMPTY
            and not group.pending_members
            and offset_count == expired_count
            and not self._offsets.is_pending(group.group_id)
        )

    # --- what is durable ---------------------------------------------------------

    def replay(self, record: GroupRecord) -> None:
        """Take over one record, from the log or just written; it alone changes what is durable."""
        match record.key, record.value:
            case OffsetCommitKey() as key, OffsetCommitValue() | None as value:
                self._replay_offset(key, value)
            case LegacyOffsetCommitKey() as key, LegacyOffsetCommitValue() | None as value:
                self._replay_offset(*_from_legacy(key, value))
            case GroupMetadataKey() as key, GroupMetadataValue() | None as value:
                self._classic.replay(key.group, value)

    def _replay_offset(self, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        if value is not None and key.group not in self._classic:
            self._classic.add_simple(key.group)
        self._offsets.replay(key, value)

    def loaded(self, now: float, now_ms: int) -> GroupOutcome:
        """Begin to serve, once all records of the partition were replayed."""
        self._schedule_expiration(now)
        return self._classic.loaded(Moment(now, now_ms))


def _classic_tombstone(group_id: str) -> GroupRecord:
    return tombstone(GroupMetadataKey(group=group_id))


def _from_legacy(
    key: LegacyOffsetCommitKey, value: LegacyOffsetCommitValue | None
) -> tuple[OffsetCommitKey, OffsetCommitValue | None]:
    """A commit as Kafka before 0.9 wrote it."""
    new_key = OffsetCommitKey(group=key.group, topic=key.topic, partition=key.partition)
    if value is None:
        return new_key, None
    return new_key, OffsetCommitValue(
        offset=value.offset, metadata=value.metadata, commit_timestamp=value.commit_timestamp
    )
