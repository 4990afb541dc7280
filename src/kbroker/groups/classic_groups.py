"""All classic groups of a shard: finds the group of a request, keeps time for all of them."""

from collections.abc import Iterator
from math import inf

from kbroker.groups.caller import Caller
from kbroker.groups.classic_answers import (
    GroupOutcome,
    end_join,
    end_sync,
    join_refused,
    reply,
)
from kbroker.groups.classic_group import ClassicGroup, ClassicState, group_from_record
from kbroker.groups.classic_join import ClassicJoin
from kbroker.groups.classic_leave import leave, leaving, left, member_left
from kbroker.groups.classic_rebalance import ClassicDeadline, ClassicRebalance, DeadlineKind
from kbroker.groups.classic_sync import heartbeat, names_its_protocol, sync
from kbroker.groups.group_records import tombstone
from kbroker.groups.moment import Moment
from kbroker.groups.settings import GroupSettings
from kbroker.machine import Outcome, Ticket
from kbroker.wire import ErrorCode
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kbroker.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kbroker.wire.messages.join_group import JoinGroupRequest
from kbroker.wire.messages.leave_group import LeaveGroupRequest
from kbroker.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


class ClassicGroups:
    """The classic groups of one shard, by their ids."""

    def __init__(self, settings: GroupSettings) -> None:
        self._groups: dict[str, ClassicGroup] = {}
        self._rebalance = ClassicRebalance(settings)
        self._is_loading = True
        # Groups that were consumer groups and did not rebalance yet; a dict keeps their order.
        self._adopted: dict[str, None] = {}

    def configure(self, settings: GroupSettings) -> None:
        """Go on with other settings."""
        self._rebalance.settings = settings

    def get(self, group_id: str) -> ClassicGroup | None:
        """The group, or None if there is no classic group with this id."""
        return self._groups.get(group_id)

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._groups

    def __iter__(self) -> Iterator[ClassicGroup]:
        return iter(self._groups.values())

    # --- requests ----------------------------------------------------------------

    def join(
        self,
        request: JoinGroupRequest,
        caller: Caller,
        ticket: Ticket,
        at: Moment,
        new_member_id: str,
    ) -> GroupOutcome:
        """JoinGroup; a group that nobody knows is made for somebody who knows nobody either."""
        settings = self._rebalance.settings
        timeout_ms = request.session_timeout_ms
        if not settings.min_session_timeout_ms <= timeout_ms <= settings.max_session_timeout_ms:
            error = ErrorCode.INVALID_SESSION_TIMEOUT
            return reply(ticket, join_refused(error, request.member_id, caller.api_version))
        group = self._groups.get(request.group_id)
        if group is not None:
            joining = ClassicJoin(self._rebalance, group, request, caller, ticket, at)
            return joining.decide(new_member_id)
        if request.member_id:
            error = ErrorCode.UNKNOWN_MEMBER_ID
            return reply(ticket, join_refused(error, request.member_id, caller.api_version))
        group = ClassicGroup(request.group_id)
        created: GroupOutcome = Outcome(records=(group.metadata_record({}, at.now_ms),))
        joining = ClassicJoin(self._rebalance, group, request, caller, ticket, at)
        outcome = joining.decide(new_member_id)
        if not group.members and not group.pending_members:
            return outcome  # refused: there is nothing to remember
        self._groups[group.group_id] = group
        return created + outcome

    def sync(
        self, request: SyncGroupRequest, caller: Caller, ticket: Ticket, at: Moment
    ) -> GroupOutcome:
        """SyncGroup."""
        group = self._groups.get(request.group_id)
        error = ErrorCode.NONE
        if not names_its_protocol(request, caller):
            error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        elif group is None:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        else:
            return sync(self._rebalance, group, request, ticket, at)
        return reply(ticket, SyncGroupResponse(error_code=error))

    def heartbeat(self, request: HeartbeatRequest, ticket: Ticket, at: Moment) -> GroupOutcome:
        """Heartbeat."""
        group = self._groups.get(request.group_id)
        error = ErrorCode.UNKNOWN_MEMBER_ID
        if group is not None:
            error = heartbeat(self._rebalance, group, request, at)
        return reply(ticket, HeartbeatResponse(error_code=error))

    def leave(
        self, request: LeaveGroupRequest, caller: Caller, ticket: Ticket, at: Moment
    ) -> GroupOutcome:
        """LeaveGroup."""
        group = self._groups.get(request.group_id)
        identities = leaving(request, caller.api_version)
        if group is None:
            unknown = [member_left(each, ErrorCode.UNKNOWN_MEMBER_ID) for each in identities]
            return reply(ticket, left(unknown, caller.api_version))
        return leave(self._rebalance, group, identities, caller.api_version, ticket, at)

    def committed(self, group: ClassicGroup, member_id: str, at: Moment) -> None:
        """Take a commit for a sign of life; one that was accepted names a member."""
        if group.state in (ClassicState.STABLE, ClassicState.PREPARING_REBALANCE):
            timeout_ms = group.members[member_id].session_timeout_ms
            self._rebalance.keep_alive(group, member_id, timeout_ms, at)

    def retire(self, group_id: str) -> GroupOutcome:
        """End a group that lives on under the consumer protocol; who waits has to join again."""
        group = self._groups[group_id]
        error = ErrorCode.REBALANCE_IN_PROGRESS
        outcome: GroupOutcome = Outcome(records=(tombstone(GroupMetadataKey(group=group_id)),))
        for member in group.members.values():
            refusal = join_refused(error, member.member_id, member.join_version)
            outcome += end_join(group, member, refusal)
            outcome += end_sync(member, error)
        return outcome

    # --- time --------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        """When the earliest deadline of any group falls due, or None if there is none."""
        if self._adopted:
            return -inf
        return self._rebalance.deadlines.next_deadline()

    def on_time(self, at: Moment) -> GroupOutcome:
        """Do what is due."""
        outcome: GroupOutcome = Outcome()
        for group_id in self._adopted:
            outcome += self._adopt(group_id, at)
        self._adopted.clear()
        for deadline in self._rebalance.deadlines.due(at.now):
            outcome += self._due(deadline, at)
        return outcome

    def _due(self, deadline: ClassicDeadline, at: Moment) -> GroupOutcome:
        group = self._groups[deadline.group_id]
        if deadline.kind is DeadlineKind.SESSION:
            return self._rebalance.session_expired(group, deadline.member_id, at)
        if deadline.kind is DeadlineKind.JOIN:
            return self._rebalance.join_deadline(group, at)
        return self._rebalance.sync_deadline(group, at)

    # --- what is durable ---------------------------------------------------------

    def replay(self, group_id: str, value: GroupMetadataValue | None) -> None:
        """Take over a record of a group, or let the group go (None)."""
        group = self._groups.get(group_id)
        if value is None:
            if group is not None:
                self.remove(group)
        elif group is None or self._is_loading:
            self._groups[group_id] = group_from_record(group_id, value)
            # It was a consumer group until this record (KIP-848), which nobody leads: it needs a
            # rebalance. That starts with the next tick, because a replay knows no time.
            is_adopted = bool(value.members) and value.leader is None
            if is_adopted or not self._is_loading:
                self._adopted[group_id] = None
            else:
                self._adopted.pop(group_id, None)  # it had its rebalance since
        else:
            group.written(value)

    def add_simple(self, group_id: str) -> None:
        """Make a group for offsets that somebody committed without being a member."""
        self._groups[group_id] = ClassicGroup(group_id)

    def remove(self, group: ClassicGroup) -> None:
        """Let a group go; nobody may be parked on it any more."""
        self._rebalance.forget(group)
        group.move(ClassicState.DEAD, None)
        del self._groups[group.group_id]

    def loaded(self, at: Moment) -> GroupOutcome:
        """Start the sessions of all members; a group above group.max.size has to shrink."""
        self._is_loading = False
        outcome: GroupOutcome = Outcome()
        for group in self._groups.values():
            self._start_sessions(group, at)
            if len(group.members) > self._rebalance.settings.max_size:
                outcome += self._rebalance.prepare(group, at)
        return outcome

    def _adopt(self, group_id: str, at: Moment) -> GroupOutcome:
        """Start the sessions of a group that was a consumer group, and a rebalance."""
        group = self._groups.get(group_id)
        if group is None:
            return Outcome()  # it is a consumer group again
        self._start_sessions(group, at)
        if group.state is not ClassicState.STABLE:
            return Outcome()  # somebody joined meanwhile, so the rebalance is under way
        return self._rebalance.prepare(group, at)

    def _start_sessions(self, group: ClassicGroup, at: Moment) -> None:
        for member in group.members.values():
            self._rebalance.keep_alive(group, member.member_id, member.session_timeout_ms, at)
