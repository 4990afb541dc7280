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

Durable state changes in the ``replay`` methods alone: offsets, assignments, what the records say.
What a failover may lose (parked requests, sessions, a rebalance under way) the requests change
directly.
"""

from collections.abc import Callable, Collection

from kbroker.config import GroupConfig
from kbroker.groups.caller import Caller
from kbroker.groups.classic_answers import GroupOutcome, join_refused, reply
from kbroker.groups.classic_group import ClassicState
from kbroker.groups.classic_groups import ClassicGroups
from kbroker.groups.consumer_describing import list_consumer
from kbroker.groups.consumer_groups import ConsumerGroups
from kbroker.groups.describing import (
    describe_classic,
    list_classic,
    matches,
    not_described,
)
from kbroker.groups.group_records import GroupRecord, tombstone
from kbroker.groups.moment import Moment
from kbroker.groups.offset_requests import OffsetRequests
from kbroker.groups.offsets import OffsetStore
from kbroker.groups.settings import GroupSettings
from kbroker.groups.topics_view import TopicsView
from kbroker.machine import Outcome, Ticket
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_describe import (
    DescribedGroup as ConsumerDescribedGroup,
)
from kbroker.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
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
from kbroker.wire.messages.offset_delete import OffsetDeleteRequest
from kbroker.wire.messages.offset_fetch import OffsetFetchRequestGroup
from kbroker.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from kbroker.wire.messages.txn_offset_commit import TxnOffsetCommitRequest


class GroupShard:
    """The classic and consumer groups of one partition, and their offsets."""

    def __init__(
        self,
        settings: GroupSettings,
        topics: TopicsView,
        group_config: Callable[[str], GroupConfig | None] | None = None,
    ) -> None:
        """Start empty; ``group_config`` tells what a group has set for itself, or None."""
        self._settings = settings
        self._classic = ClassicGroups(settings)
        self._consumer = ConsumerGroups(settings, topics, self._classic, group_config)
        self._store = OffsetStore()
        self._offsets = OffsetRequests(self._store, self._classic, self._consumer, topics)
        self._next_expiration: float | None = None

    def configure(self, settings: GroupSettings) -> None:
        """Go on with other settings, because a config changed."""
        self._settings = settings
        self._classic.configure(settings)
        self._consumer.configure(settings)

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
            error = ErrorCode.INVALID_GROUP_ID
            return reply(ticket, join_refused(error, request.member_id, caller.api_version))
        at = Moment(now, now_ms)
        if request.group_id in self._consumer:
            return self._consumer.join(request, caller, ticket, at, new_member_id)
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
        at = Moment(now, now_ms)
        if request.group_id in self._consumer:
            return self._consumer.sync(request, ticket, at)
        return self._classic.sync(request, caller, ticket, at)

    def heartbeat(
        self, request: HeartbeatRequest, ticket: Ticket, now: float, now_ms: int
    ) -> GroupOutcome:
        """Heartbeat of a member that speaks the classic protocol."""
        if not request.group_id:
            return reply(ticket, HeartbeatResponse(error_code=ErrorCode.INVALID_GROUP_ID))
        at = Moment(now, now_ms)
        if request.group_id in self._consumer:
            return self._consumer.classic_heartbeat(request, ticket, at)
        return self._classic.heartbeat(request, ticket, at)

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
        at = Moment(now, now_ms)
        if request.group_id in self._consumer:
            return self._consumer.leave(request, caller, ticket, at)
        return self._classic.leave(request, caller, ticket, at)

    def consumer_group_heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        caller: Caller,
        ticket: Ticket,
        now: float,
        now_ms: int,
        new_member_id: str,
    ) -> GroupOutcome:
        """ConsumerGroupHeartbeat (KIP-848): joining, staying and leaving in one."""
        at = Moment(now, now_ms)
        return self._consumer.heartbeat(request, caller, ticket, at, new_member_id)

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
        at = Moment(now, now_ms)
        max_bytes = self._settings.offset_metadata_max_bytes
        return self._offsets.commit(request, caller, ticket, at, max_bytes)

    def txn_offset_commit(
        self, request: TxnOffsetCommitRequest, caller: Caller, ticket: Ticket, now_ms: int
    ) -> GroupOutcome:
        """TxnOffsetCommit; the shell writes the records as part of the producer's transaction."""
        max_bytes = self._settings.offset_metadata_max_bytes
        return self._offsets.commit_in_transaction(request, caller, ticket, now_ms, max_bytes)

    def offset_fetch(
        self, request: OffsetFetchRequestGroup, require_stable: bool, ticket: Ticket
    ) -> GroupOutcome:
        """OffsetFetch of one group; a group that nobody knows committed nothing."""
        return self._offsets.fetch(request, require_stable, ticket)

    def offset_delete(self, request: OffsetDeleteRequest, ticket: Ticket) -> GroupOutcome:
        """OffsetDelete."""
        return self._offsets.delete(request, ticket)

    # --- administration ----------------------------------------------------------

    def describe_group(self, group_id: str, caller: Caller) -> DescribedGroup:
        """DescribeGroups for one group."""
        group = self._classic.get(group_id)
        if group is not None:
            return describe_classic(group)
        message = f"Group {group_id} not found."
        if group_id in self._consumer:
            message = f"Group {group_id} is not a classic group."
        return not_described(group_id, caller.api_version, message)

    def consumer_group_describe(self, group_id: str) -> ConsumerDescribedGroup:
        """ConsumerGroupDescribe for one group."""
        described = self._consumer.describe(group_id)
        if self._classic.get(group_id) is not None:
            described.error_message = f"Group {group_id} is not a consumer group."
        return described

    def list_groups(self, states: Collection[str], types: Collection[str]) -> list[ListedGroup]:
        """ListGroups: all groups in one of ``states`` and of one of ``types``; empty means any."""
        listed = [list_classic(group) for group in self._classic]
        listed += [list_consumer(group) for group in self._consumer]
        return [each for each in listed if matches(each, states, types)]

    def delete_group(self, group_id: str, ticket: Ticket) -> GroupOutcome:
        """DeleteGroups for one group, with all its offsets."""
        error, records = self._end(group_id)
        if error is ErrorCode.NONE:
            records = [*self._store.tombstones(group_id), *records]
        result = DeletableGroupResult(group_id=group_id, error_code=error)
        return Outcome(tuple(records), ((ticket, result),))

    def _end(self, group_id: str) -> tuple[ErrorCode, list[GroupRecord]]:
        """What ends a group, of whatever kind, that has no members."""
        if group_id in self._consumer:
            return self._consumer.delete(group_id)
        group = self._classic.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND, []
        if group.state is not ClassicState.EMPTY:
            return ErrorCode.NON_EMPTY_GROUP, []
        return ErrorCode.NONE, [tombstone(GroupMetadataKey(group=group_id))]

    # --- time --------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        """When to call `on_time`, or None if nothing is waited for."""
        earliest = self._next_expiration
        for deadline in (self._classic.next_deadline(), self._consumer.next_deadline()):
            if earliest is None or (deadline is not None and deadline < earliest):
                earliest = deadline
        return earliest

    def on_time(self, now: float, now_ms: int) -> GroupOutcome:
        """Do what is due: sessions, rebalances, and now and then expired offsets.

        Not always all of it: call again while `next_deadline` is not in the future.
        """
        at = Moment(now, now_ms)
        outcome = self._classic.on_time(at) + self._consumer.on_time(at)
        # Only when nothing else happens, so that it is decided on groups as they are.
        is_quiet = outcome == Outcome()
        if is_quiet and self._next_expiration is not None and self._next_expiration <= now:
            self._schedule_expiration(now)
            outcome = Outcome(tuple(self._expire(now_ms)))
        return outcome

    def on_topics_changed(self, now: float, now_ms: int) -> GroupOutcome:
        """Look at the topics again, because some came, went or grew."""
        return self._consumer.on_topics_changed(Moment(now, now_ms))

    def on_topics_deleted(self, topics: Collection[str]) -> GroupOutcome:
        """Forget the offsets of topics that are gone, lest a topic of the same name finds them."""
        return Outcome(tuple(self._store.tombstones_of_topics(topics)))

    def _schedule_expiration(self, now: float) -> None:
        interval_ms = self._settings.offsets_retention_check_interval_ms
        self._next_expiration = now + interval_ms / 1000

    def _group_ids(self) -> list[str]:
        groups = (*self._classic, *self._consumer)
        return [group.group_id for group in groups]

    def _expire(self, now_ms: int) -> list[GroupRecord]:
        """Tombstones of offsets that nobody needs, and of groups that have nothing left."""
        records: list[GroupRecord] = []
        retention_ms = self._settings.offsets_retention_ms
        for group_id in self._group_ids():
            expired, is_bare = self._offsets.expired(group_id, now_ms, retention_ms)
            records += expired
            if is_bare:
                _, ended = self._end(group_id)
                records += ended
        return records

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
            case _:
                self._consumer.replay(record)

    def replay_pending(self, record: GroupRecord, producer_id: int) -> None:
        """Take over a record of a transaction: an offset waits for the marker, as in Kafka.

        The group is there from now on. Other records are never written so, but if somebody did,
        they would count at once.
        """
        match record.key, record.value:
            case OffsetCommitKey() as key, OffsetCommitValue() as value:
                self._ensure_group(key.group)
                self._store.replay_pending(key, value, producer_id)
            case _:
                self.replay(record)

    def replay_marker(
        self,
        producer_id: int,
        producer_epoch: int,  # noqa: ARG002 - the log has fenced older ones
        committed: bool,
    ) -> None:
        """A transaction ended, and with it the waiting of its offsets."""
        self._store.replay_marker(producer_id, committed)

    def _replay_offset(self, key: OffsetCommitKey, value: OffsetCommitValue | None) -> None:
        if value is not None:
            self._ensure_group(key.group)
        self._store.replay(key, value)

    def _ensure_group(self, group_id: str) -> None:
        if group_id not in self._classic and group_id not in self._consumer:
            self._classic.add_simple(group_id)

    def loaded(self, now: float, now_ms: int) -> GroupOutcome:
        """Begin to serve, once all records of the partition were replayed."""
        # The end of a group may stand in the log behind offsets that outlived it.
        for group_id in self._store.group_ids():
            self._ensure_group(group_id)
        self._schedule_expiration(now)
        at = Moment(now, now_ms)
        return self._classic.loaded(at) + self._consumer.loaded(at)


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
