"""All consumer groups of a shard (KIP-848): what the shard asks of them.

consumer_heartbeat     joining, staying and leaving by the new protocol
heartbeat_checks       what such a request must look like
consumer_leave         members that go, or are put out
classic_in_consumer    members that still speak the classic protocol
migration              groups that change their protocol
embedded_protocol      the bytes that classic consumers exchange

consumer_group         ConsumerGroup: its epochs, its members, who holds what; replay
consumer_members       ConsumerMember, one member
group_change           GroupChange, what one request does to a group, step by step
reconciliation         a member on its way to its target
target_assignment      what every member shall have
assignors/             uniform and range
subscriptions, regex   what members subscribe to

consumer_side          what all of these share: groups, deadlines, the classic groups
consumer_records       the records of consumer groups
consumer_describing    ConsumerGroupDescribe and ListGroups
consumer_offset_rules  who may commit and fetch
refused                RefusedError, a request that is answered with an error

A group id belongs to a consumer group if it is in here. The classic groups of the
shard stand beside (`ClassicSide`), because groups move between the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.groups import classic_in_consumer, consumer_heartbeat, consumer_records
from kbroker.groups.consumer_describing import consumer_not_described, describe_consumer
from kbroker.groups.consumer_group import CONSUMER_KEYS, ConsumerGroup
from kbroker.groups.consumer_leave import fence
from kbroker.groups.consumer_members import MemberState
from kbroker.groups.consumer_side import ConsumerSide, Wait, Waits
from kbroker.groups.subscriptions import group_names
from kbroker.machine import Outcome
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_metadata_record import ConsumerGroupMetadataKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kbroker.config import GroupConfig
    from kbroker.groups.caller import Caller
    from kbroker.groups.classic_answers import GroupOutcome
    from kbroker.groups.consumer_side import ClassicSide
    from kbroker.groups.group_records import GroupRecord
    from kbroker.groups.moment import Moment
    from kbroker.groups.settings import GroupSettings
    from kbroker.groups.topics_view import TopicsView
    from kbroker.machine import Ticket
    from kbroker.wire.messages.consumer_group_describe import DescribedGroup
    from kbroker.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
    from kbroker.wire.messages.heartbeat import HeartbeatRequest
    from kbroker.wire.messages.join_group import JoinGroupRequest
    from kbroker.wire.messages.leave_group import LeaveGroupRequest
    from kbroker.wire.messages.sync_group import SyncGroupRequest


class ConsumerGroups:
    """The consumer groups of one shard, by their ids."""

    def __init__(
        self,
        settings: GroupSettings,
        topics: TopicsView,
        classic: ClassicSide,
        group_config: Callable[[str], GroupConfig | None] | None = None,
    ) -> None:
        self._side = ConsumerSide(settings, topics, classic)
        if group_config is not None:
            self._side.group_config = group_config

    def configure(self, settings: GroupSettings) -> None:
        """Go on with other settings."""
        self._side.settings = settings

    def get(self, group_id: str) -> ConsumerGroup | None:
        """The group, or None if there is no consumer group with this id."""
        return self._side.groups.get(group_id)

    def __contains__(self, group_id: str) -> bool:
        return group_id in self._side.groups

    def __iter__(self) -> Iterator[ConsumerGroup]:
        return iter(self._side.groups.values())

    @property
    def default_assignor(self) -> str:
        """The assignor of groups whose members do not ask for one."""
        return consumer_heartbeat.supported_assignors(self._side)[0]

    # --- requests ----------------------------------------------------------------

    def heartbeat(
        self,
        request: ConsumerGroupHeartbeatRequest,
        caller: Caller,
        ticket: Ticket,
        at: Moment,
        new_member_id: str,
    ) -> GroupOutcome:
        """ConsumerGroupHeartbeat."""
        return consumer_heartbeat.heartbeat(self._side, request, caller, ticket, at, new_member_id)

    def join(
        self,
        request: JoinGroupRequest,
        caller: Caller,
        ticket: Ticket,
        at: Moment,
        new_member_id: str,
    ) -> GroupOutcome:
        """JoinGroup to a group that is in here; an empty one gives way to a classic group."""
        group = self._side.groups[request.group_id]
        if group.members:
            return classic_in_consumer.join(
                self._side, group, request, caller, ticket, at, new_member_id
            )
        joined = self._side.classic.join(request, caller, ticket, at, new_member_id)
        if not joined.records:
            return joined  # refused: the group stays what it is
        ended: GroupOutcome = Outcome(records=tuple(consumer_records.group_gone(group)))
        return ended + joined

    def sync(self, request: SyncGroupRequest, ticket: Ticket, at: Moment) -> GroupOutcome:
        """SyncGroup to a group that is in here."""
        group = self._side.groups[request.group_id]
        return classic_in_consumer.sync(self._side, group, request, ticket, at)

    def classic_heartbeat(
        self, request: HeartbeatRequest, ticket: Ticket, at: Moment
    ) -> GroupOutcome:
        """Heartbeat to a group that is in here."""
        group = self._side.groups[request.group_id]
        return classic_in_consumer.heartbeat(self._side, group, request, ticket, at)

    def leave(
        self, request: LeaveGroupRequest, caller: Caller, ticket: Ticket, at: Moment
    ) -> GroupOutcome:
        """LeaveGroup to a group that is in here."""
        group = self._side.groups[request.group_id]
        return classic_in_consumer.leave(self._side, group, request, caller, ticket, at)

    def describe(self, group_id: str) -> DescribedGroup:
        """ConsumerGroupDescribe of one group."""
        group = self._side.groups.get(group_id)
        if group is None:
            return consumer_not_described(group_id)
        return describe_consumer(group, self._side.topics, self.default_assignor)

    def is_subscribed(self, group_id: str, topic: str) -> bool:
        """Whether a member reads ``topic``: then its offsets are neither deleted nor expired."""
        group = self._side.groups[group_id]
        return topic in group_names(group.members.values(), group.resolved)

    def delete(self, group_id: str) -> tuple[ErrorCode, list[GroupRecord]]:
        """The records that end a group that is in here; it must be empty."""
        group = self._side.groups[group_id]
        if group.members:
            return ErrorCode.NON_EMPTY_GROUP, []
        return ErrorCode.NONE, consumer_records.group_gone(group)

    # --- time and topics -----------------------------------------------------------

    def next_deadline(self) -> float | None:
        """When the earliest deadline of any group falls due, or None if there is none."""
        return self._side.deadlines.next_deadline()

    def on_time(self, at: Moment) -> GroupOutcome:
        """Put out whoever is overdue; join those to classic groups whose groups became such."""
        outcome: GroupOutcome = Outcome()
        overdue: dict[str, set[str]] = {}
        for wait in self._side.deadlines.due(at.now):
            if wait.about is Waits.DOWNGRADED:
                outcome += self._join_classic(wait.group_id, at)
            else:
                overdue.setdefault(wait.group_id, set()).add(wait.member_id)
        # All of one group at once: a second decision must see what the first one did.
        for group_id, member_ids in overdue.items():
            group = self._side.groups[group_id]
            members = [group.members[member_id] for member_id in sorted(member_ids)]
            outcome += fence(self._side, group, members, at)
        return outcome

    def _join_classic(self, group_id: str, at: Moment) -> GroupOutcome:
        outcome: GroupOutcome = Outcome()
        for join in self._side.parked_joins.pop(group_id):
            outcome += self._side.classic.join(
                join.request, join.caller, join.ticket, at, join.new_member_id
            )
        return outcome

    def on_topics_changed(self, at: Moment) -> GroupOutcome:
        """Give every group a new epoch whose topics changed."""
        records: list[GroupRecord] = []
        for group in self._side.groups.values():
            if group.members:
                change = self._side.change(group, at)
                change.refresh(bump=False)
                records += change.records
        return Outcome(records=tuple(records))

    def loaded(self, at: Moment) -> GroupOutcome:
        """Start the deadlines of all members; topics may have changed since the last records."""
        side = self._side
        for group in side.groups.values():
            for member in group.members.values():
                side.extend_session(group.group_id, member, at.now)
                if member.state is MemberState.UNREVOKED_PARTITIONS and member.classic is None:
                    wait = Wait(Waits.REBALANCE, group.group_id, member.member_id)
                    side.wait(wait, member.rebalance_timeout_ms, at.now)
        return self.on_topics_changed(at)

    # --- what is durable ---------------------------------------------------------

    def replay(self, record: GroupRecord) -> None:
        """Take over a record of a consumer group: one whose key is of `CONSUMER_KEYS`."""
        assert isinstance(record.key, CONSUMER_KEYS)
        group_id, groups = record.key.group_id, self._side.groups
        if record.value is not None:
            if group_id not in groups:
                self._make_way(group_id)
                groups[group_id] = ConsumerGroup(group_id)
            groups[group_id].replay(record)
        elif group_id in groups:  # else what the tombstone takes back was compacted away
            groups[group_id].replay(record)
            if isinstance(record.key, ConsumerGroupMetadataKey):
                del groups[group_id]

    def _make_way(self, group_id: str) -> None:
        # A group that has nothing but offsets yet was taken for a classic one.
        simple = self._side.classic.get(group_id)
        if simple is not None:
            self._side.classic.remove(simple)
