"""A consumer group (KIP-848): its members, its epochs, who shall have what and who has it.

Three epochs tell how far a group is. The group epoch grows when anything changes
that the assignment depends on. The assignment epoch follows it when the target
assignment was computed. Each member's epoch follows that one when the member has
given up what it must (see reconciliation.py).

state         when
------------  ----------------------------------------------------------
EMPTY         there are no members
ASSIGNING     the group epoch is ahead of the assignment epoch
RECONCILING   some member is not yet where the target assignment wants it
STABLE        every member is

`replay` is the only thing that changes a group. A log that was compacted may lack
any record that has a later one, so replay takes records in whatever order is left
and never insists on one that is gone.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from kbroker.groups.consumer_members import LEAVE_EPOCH, ConsumerMember, MemberState
from kbroker.groups.subscriptions import ResolvedRegex
from kbroker.wire.messages.consumer_group_current_member_assignment_record import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from kbroker.wire.messages.consumer_group_member_metadata_record import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from kbroker.wire.messages.consumer_group_metadata_record import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from kbroker.wire.messages.consumer_group_partition_metadata_record import (
    ConsumerGroupPartitionMetadataKey,
)
from kbroker.wire.messages.consumer_group_regular_expression_record import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from kbroker.wire.messages.consumer_group_target_assignment_member_record import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
)
from kbroker.wire.messages.consumer_group_target_assignment_metadata_record import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from kbroker.groups.assignors import Partition, Partitions
    from kbroker.groups.group_records import GroupRecord


CONSUMER_KEYS = (
    ConsumerGroupMetadataKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupRegularExpressionKey,
)
"""The keys of all records of consumer groups."""


class ConsumerGroupState(Enum):
    """How far the group is; the values are what tools show."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


class ConsumerGroup:
    """One group as its records tell it."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.group_epoch = 0
        self.metadata_hash = 0
        self.assignment_epoch = 0
        # When the target was computed last; 0 if that is not known.
        self.assignment_timestamp_ms = 0
        self.members: dict[str, ConsumerMember] = {}
        self.targets: dict[str, Partitions] = {}
        self.resolved: dict[str, ResolvedRegex] = {}
        # Kafka 4.0 wrote the topics of a group into a record of their own. Later versions take
        # that back with the next epoch, and so do we.
        self.has_partition_metadata = False
        # Derived from the members: the holder of each partition, assigned or still to be revoked,
        # and the member behind each instance id.
        self._holders: dict[Partition, str] = {}
        self._static: dict[str, str] = {}

    @property
    def state(self) -> ConsumerGroupState:
        """See the table at the top of the file."""
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.group_epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return ConsumerGroupState.STABLE
        return ConsumerGroupState.RECONCILING

    def needs_target(self, now_ms: int, interval_ms: int) -> bool:
        """Whether the target is behind the group, and old enough to be computed anew.

        Many who come and go within ``interval_ms`` cost one computation. A clock that was set
        back must not make anybody wait.
        """
        if self.group_epoch <= self.assignment_epoch:
            return False
        return is_old_enough(self.assignment_timestamp_ms, now_ms, interval_ms)

    def holder(self, partition: Partition) -> str | None:
        """The member that has a partition, or has not yet said that it gave it up."""
        return self._holders.get(partition)

    def static_member(self, instance_id: str | None) -> ConsumerMember | None:
        """The member behind an instance id."""
        member_id = None if instance_id is None else self._static.get(instance_id)
        return None if member_id is None else self.members.get(member_id)

    def target(self, member_id: str) -> Partitions:
        """What a member shall have."""
        return self.targets.get(member_id, frozenset())

    def waits_for_others(self, member: ConsumerMember) -> bool:
        """Whether something that ``member`` shall have is still held by another."""
        return any(
            self.holder(partition) not in (None, member.member_id)
            for partition in self.target(member.member_id) - member.assigned.keys()
        )

    def is_held_by_other(self, partition: Partition, member: ConsumerMember) -> bool:
        """Whether ``member`` must wait for somebody else to give up a partition.

        A static member that takes the place of an older one holds what that one held.
        """
        holder = self.holder(partition)
        if holder is None or holder == member.member_id:
            return False
        predecessor = self.static_member(member.instance_id)
        return predecessor is None or holder != predecessor.member_id

    def others(self, member_ids: Collection[str]) -> list[ConsumerMember]:
        """The members besides those named."""
        return [each for each in self.members.values() if each.member_id not in member_ids]

    def preferred_assignor(self, members: Iterable[ConsumerMember]) -> str | None:
        """The assignor that most of ``members`` ask for; None if nobody asks for one."""
        votes: dict[str, int] = {}
        for member in members:
            if member.server_assignor is not None:
                votes[member.server_assignor] = votes.get(member.server_assignor, 0) + 1
        return max(sorted(votes), key=lambda name: votes[name], default=None)

    # Replay. What a tombstone speaks of may be gone already.

    def replay(self, record: GroupRecord) -> None:
        """Take one record of this group into account."""
        match record.key, record.value:
            case ConsumerGroupMetadataKey(), ConsumerGroupMetadataValue() as value:
                self.group_epoch = value.epoch
                self.metadata_hash = value.metadata_hash
            case ConsumerGroupPartitionMetadataKey(), value_or_none:
                self.has_partition_metadata = value_or_none is not None
            case (
                ConsumerGroupTargetAssignmentMetadataKey(),
                ConsumerGroupTargetAssignmentMetadataValue() as value,
            ):
                self.assignment_epoch = value.assignment_epoch
                self.assignment_timestamp_ms = value.assignment_timestamp
            case (
                ConsumerGroupRegularExpressionKey() as key,
                ConsumerGroupRegularExpressionValue() as value,
            ):
                self.resolved[key.regular_expression] = ResolvedRegex(
                    frozenset(value.topics), value.version, value.timestamp
                )
            case ConsumerGroupRegularExpressionKey() as key, None:
                self.resolved.pop(key.regular_expression, None)
            case _:
                self._replay_member(record)

    def _replay_member(self, record: GroupRecord) -> None:
        match record.key, record.value:
            case (
                ConsumerGroupMemberMetadataKey() as key,
                ConsumerGroupMemberMetadataValue() as value,
            ):
                self._put(self._member(key.member_id).with_metadata(value))
                if value.instance_id is not None:
                    self._static[value.instance_id] = key.member_id
            case ConsumerGroupMemberMetadataKey() as key, None:
                self._remove(key.member_id)
            case (
                ConsumerGroupCurrentMemberAssignmentKey() as key,
                ConsumerGroupCurrentMemberAssignmentValue() as value,
            ):
                self._put(self._member(key.member_id).with_assignment(value))
            case ConsumerGroupCurrentMemberAssignmentKey() as key, None:
                if key.member_id in self.members:
                    self._put(_without_assignment(self.members[key.member_id]))
            case (
                ConsumerGroupTargetAssignmentMemberKey() as key,
                ConsumerGroupTargetAssignmentMemberValue() as value,
            ):
                self.targets[key.member_id] = frozenset(
                    (topic.topic_id, partition)
                    for topic in value.topic_partitions
                    for partition in topic.partitions
                )
            case ConsumerGroupTargetAssignmentMemberKey() as key, None:
                self.targets.pop(key.member_id, None)

    def _member(self, member_id: str) -> ConsumerMember:
        return self.members.get(member_id) or ConsumerMember(member_id)

    def _put(self, member: ConsumerMember) -> None:
        self._release(member.member_id)
        self.members[member.member_id] = member
        for partition in (*member.assigned, *member.pending_revocation):
            self._holders[partition] = member.member_id

    def _remove(self, member_id: str) -> None:
        self._release(member_id)
        member = self.members.pop(member_id, None)
        if (
            member is not None
            and member.instance_id is not None
            and self._static.get(member.instance_id) == member_id
        ):
            del self._static[member.instance_id]

    def _release(self, member_id: str) -> None:
        member = self.members.get(member_id)
        if member is not None:
            for partition in (*member.assigned, *member.pending_revocation):
                # Another may hold it by now, if the record between was compacted away.
                if self._holders.get(partition) == member_id:
                    del self._holders[partition]


def is_old_enough(timestamp_ms: int, now_ms: int, interval_ms: int) -> bool:
    """Whether a target of ``timestamp_ms`` may be followed by another now."""
    return timestamp_ms == 0 or not 0 <= now_ms - timestamp_ms < interval_ms


def _without_assignment(member: ConsumerMember) -> ConsumerMember:
    return replace(
        member,
        member_epoch=LEAVE_EPOCH,
        previous_member_epoch=LEAVE_EPOCH,
        state=MemberState.STABLE,
        assigned={},
        pending_revocation={},
    )
