"""Groups change their protocol while they work: classic to consumer, and back.

    a consumer joins        classic group is       what happens
    ----------------------  ---------------------  ----------------------------------------
    by the new protocol     empty                  it is dropped, its offsets stay
                            not empty              its members move over with what they have
    (the same id)           of another kind        GROUP_ID_NOT_FOUND

    who goes                consumer group is      what happens
    ----------------------  ---------------------  ----------------------------------------
    the last member that    left with classic      its members move over with what they
    speaks the new one      members                hold, and rebalance
    the last member         empty                  nothing; a classic join drops it later

group.consumer.migration.policy can forbid either way. The generation of the classic
group and the epoch of the consumer group are one number, which goes on growing. A
conversion is a list of records like any other, so a failover in its middle finds
either group, never both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbroker.groups import consumer_records
from kbroker.groups.classic_group import ClassicGroup
from kbroker.groups.classic_member import ClassicMember
from kbroker.groups.consumer_group import ConsumerGroup
from kbroker.groups.consumer_members import ClassicMembership, ConsumerMember
from kbroker.groups.embedded_protocol import (
    PROTOCOL_TYPE,
    decode_assignment,
    decode_subscription,
    encode_assignment,
    partitions_of,
    version_of,
)
from kbroker.groups.refused import RefusedError
from kbroker.groups.subscriptions import metadata_hash
from kbroker.machine import Outcome
from kbroker.wire import ErrorCode, ProtocolError

if TYPE_CHECKING:
    from collections.abc import Set

    from kbroker.groups.assignors import Partition
    from kbroker.groups.classic_answers import GroupOutcome
    from kbroker.groups.consumer_side import ConsumerSide
    from kbroker.groups.group_records import GroupRecord
    from kbroker.groups.moment import Moment
    from kbroker.groups.topics_view import TopicsView

_UPGRADING = ("upgrade", "bidirectional")
_DOWNGRADING = ("downgrade", "bidirectional")


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A classic group on its way to become ``group``; nothing has happened to it yet."""

    group: ConsumerGroup
    records: tuple[GroupRecord, ...]

    def begin(self, side: ConsumerSide, moment: Moment) -> GroupOutcome:
        """End the classic group. Whoever waits in it is told to join again, which leads here."""
        for member in self.group.members.values():
            side.extend_session(self.group.group_id, member, moment.now)
        retired = side.classic.retire(self.group.group_id)
        return retired + Outcome(records=self.records)


def consumer_group(
    side: ConsumerSide, group_id: str, *, create: bool
) -> tuple[ConsumerGroup, Upgrade | None]:
    """The group that a heartbeat is for, and what must happen first; `RefusedError` if none.

    A group that is not there yet is made by the replay of its first records; what is returned
    then only stands for it.
    """
    group = side.groups.get(group_id)
    if group is not None:
        return group, None
    classic = side.classic.get(group_id)
    if not create:
        raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
    if classic is None:
        return ConsumerGroup(group_id), None
    if not classic.members:
        upgrade = Upgrade(ConsumerGroup(group_id), ())
    else:
        upgrade = _upgrade(side, classic)
    return upgrade.group, upgrade


def _upgrade(side: ConsumerSide, classic: ClassicGroup) -> Upgrade:
    prefix = f"Cannot upgrade classic group {classic.group_id} to consumer group because"
    reason = None
    if side.settings.consumer_migration_policy not in _UPGRADING:
        reason = f"{prefix} online upgrade is disabled."
    elif not classic.uses_consumer_protocol:
        reason = f"{prefix} the group does not use the consumer embedded protocol."
    elif len(classic.members) > side.settings.consumer_max_size:
        reason = f"{prefix} the group size exceeds the consumer group maximum size."
    if reason is not None:
        raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, reason)
    try:
        records = _consumer_records(classic, side.topics)
    except ProtocolError as error:
        raise RefusedError(
            ErrorCode.GROUP_ID_NOT_FOUND, f"{prefix} the embedded consumer protocol is malformed."
        ) from error
    group = ConsumerGroup(classic.group_id)
    for record in records:
        group.replay(record)
    return Upgrade(group, tuple(records))


def _consumer_records(classic: ClassicGroup, topics: TopicsView) -> list[GroupRecord]:
    """The records of a consumer group that has the members and the assignment of ``classic``."""
    group_id, epoch = classic.group_id, classic.generation
    taken: set[Partition] = set()
    members = []
    for classic_member in classic.members.values():
        member = _consumer_member(classic_member, epoch, taken, topics)
        taken |= member.assigned.keys()
        members.append(member)
    names = frozenset().union(*(member.topic_names for member in members))
    return [
        *(consumer_records.member_metadata(group_id, member) for member in members),
        consumer_records.group_epoch(group_id, epoch, metadata_hash(names, topics)),
        *(
            consumer_records.target_assignment(
                group_id, member.member_id, frozenset(member.assigned)
            )
            for member in members
        ),
        # No time: the next target may follow at once.
        consumer_records.target_epoch(group_id, epoch, timestamp_ms=0),
        *(consumer_records.current_assignment(group_id, member) for member in members),
    ]


def _consumer_member(
    member: ClassicMember, epoch: int, taken: Set[Partition], topics: TopicsView
) -> ConsumerMember:
    """A classic member as it lives in a consumer group.

    A leader may have assigned a partition twice; the first one keeps it (G4).
    """
    subscription = decode_subscription(member.protocols[0][1])
    assignment = decode_assignment(member.assignment)
    if assignment.user_data:
        raise RefusedError(
            ErrorCode.GROUP_ID_NOT_FOUND,
            "Cannot upgrade classic group to consumer group because an unsupported custom "
            "assignor is in use. Please refer to the documentation or switch to a default "
            "assignor before re-attempting the upgrade.",
        )
    named = ((each.topic, each.partitions) for each in assignment.assigned_partitions)
    return ConsumerMember(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        rack_id=subscription.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topic_names=frozenset(subscription.topics),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        classic=ClassicMembership(member.session_timeout_ms, member.protocols),
        member_epoch=epoch,
        previous_member_epoch=epoch,
        assigned=dict.fromkeys(partitions_of(named, topics) - taken, epoch),
    )


def can_downgrade(side: ConsumerSide, group: ConsumerGroup, leaving: Set[str]) -> bool:
    """Whether the group becomes a classic one when ``leaving`` go: only classic members stay."""
    staying = group.others(leaving)
    return (
        bool(staying)
        and all(member.classic is not None for member in staying)
        and side.settings.consumer_migration_policy in _DOWNGRADING
        and len(staying) <= side.settings.max_size
    )


def downgrade(
    side: ConsumerSide, group: ConsumerGroup, leaving: Set[str], moment: Moment
) -> GroupOutcome:
    """Make the group a classic one without ``leaving``.

    The replay of its record brings it to the classic groups, which start its sessions and a
    rebalance with their next tick: those who left had partitions that are now nobody's.
    """
    classic = ClassicGroup(group.group_id)
    classic.generation = group.group_epoch
    for member in group.others(leaving):
        side.forget_waits(group.group_id, member.member_id)
        classic.add(_classic_member(member), PROTOCOL_TYPE)
    # Nobody leads: that tells a coordinator which finds the record after a failover that the
    # rebalance is still to come.
    classic.leader_id = None
    classic.protocol_name = classic.select_protocol()
    # What a member holds, not what it shall have: it may not know of that yet, and an upgrade
    # before the rebalance would take the rest for free (G4).
    assignments = {
        member.member_id: encode_assignment(
            _held(group.members[member.member_id]),
            side.topics,
            version_of(member.metadata(classic.protocol_name)),
        )
        for member in classic.members.values()
    }
    record = classic.metadata_record(assignments, moment.now_ms)
    return Outcome(records=(*consumer_records.group_gone(group), record))


def _held(member: ConsumerMember) -> tuple[Partition, ...]:
    return (*member.assigned, *member.pending_revocation)


def _classic_member(member: ConsumerMember) -> ClassicMember:
    assert member.classic is not None
    return ClassicMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=member.classic.session_timeout_ms,
        protocols=member.classic.protocols,
    )
