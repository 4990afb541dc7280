"""A member of a consumer group: what it asked for, what it has, and how far it has come.

Two records hold a member, and `ConsumerMember` is both: ConsumerGroupMemberMetadata
says who it is and what it subscribes to, ConsumerGroupCurrentMemberAssignment where
it stands on the way to its target assignment. A member is a value; whoever changes
it makes another, and records are written where the two differ.

A member that speaks the classic protocol can live in a consumer group while the
group migrates; it has ``classic`` set, and its generation is its member epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from kbroker.wire.messages.consumer_group_current_member_assignment_record import (
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kbroker.wire.messages.consumer_group_member_metadata_record import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataValue,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kbroker.groups.assignors import Partition
    from kbroker.model import Uuid

# What a member sends as its epoch to join, to leave for good, and to leave as a static member
# that means to come back.
JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
LEAVE_STATIC_EPOCH: Final = -2


class MemberState(IntEnum):
    """How far a member is from its target assignment; the numbers stand in the records.

    state                  the member
    ---------------------  ---------------------------------------------------------
    STABLE                 has what its epoch gives it
    UNREVOKED_PARTITIONS   must give up partitions before it may go to the next epoch
    UNRELEASED_PARTITIONS  is at its epoch, but others have not given up all its
                           partitions yet
    UNKNOWN                was written by a newer broker; it must join anew
    """

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


@dataclass(frozen=True, slots=True)
class ClassicMembership:
    """What a member that speaks the classic protocol sent when it joined."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    """The names of its assignors, the preferred first, each with a subscription."""


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    """One member; see the top of the file."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topic_names: frozenset[str] = frozenset()
    topic_regex: str = ""
    """Empty: the member subscribes to names alone."""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    classic: ClassicMembership | None = None
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: MemberState = MemberState.STABLE
    # Each partition with the epoch in which the member got it (KIP-1251). A commit in an older
    # epoch of the same member is good for the partition from that epoch on.
    assigned: Mapping[Partition, int] = field(default_factory=dict)
    pending_revocation: Mapping[Partition, int] = field(default_factory=dict)

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether nothing is left to do until there is a newer target."""
        return self.state is MemberState.STABLE and self.member_epoch == target_epoch

    def metadata_value(self) -> ConsumerGroupMemberMetadataValue:
        """The record of who the member is."""
        classic = None
        if self.classic is not None:
            classic = ClassicMemberMetadata(
                session_timeout_ms=self.classic.session_timeout_ms,
                supported_protocols=[
                    ClassicProtocol(name=name, metadata=metadata)
                    for name, metadata in self.classic.protocols
                ],
            )
        return ConsumerGroupMemberMetadataValue(
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            client_host=self.client_host,
            subscribed_topic_names=sorted(self.topic_names),
            subscribed_topic_regex=self.topic_regex,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            server_assignor=self.server_assignor,
            classic_member_metadata=classic,
        )

    def with_metadata(self, value: ConsumerGroupMemberMetadataValue) -> ConsumerMember:
        """This member as the record says it is now."""
        classic = None
        if (stored := value.classic_member_metadata) is not None:
            classic = ClassicMembership(
                stored.session_timeout_ms,
                tuple((each.name, bytes(each.metadata)) for each in stored.supported_protocols),
            )
        return replace(
            self,
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            topic_names=frozenset(value.subscribed_topic_names),
            topic_regex=value.subscribed_topic_regex or "",
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            server_assignor=value.server_assignor,
            classic=classic,
        )

    def assignment_value(self) -> ConsumerGroupCurrentMemberAssignmentValue:
        """The record of where the member stands."""
        return ConsumerGroupCurrentMemberAssignmentValue(
            member_epoch=self.member_epoch,
            previous_member_epoch=self.previous_member_epoch,
            state=self.state,
            assigned_partitions=_stored(self.assigned),
            partitions_pending_revocation=_stored(self.pending_revocation),
        )

    def with_assignment(self, value: ConsumerGroupCurrentMemberAssignmentValue) -> ConsumerMember:
        """This member where the record says it stands now."""
        try:
            state = MemberState(value.state)
        except ValueError:
            state = MemberState.UNKNOWN
        return replace(
            self,
            member_epoch=value.member_epoch,
            previous_member_epoch=value.previous_member_epoch,
            state=state,
            assigned=_loaded(value.assigned_partitions, value.member_epoch),
            pending_revocation=_loaded(value.partitions_pending_revocation, value.member_epoch),
        )


def by_topic(partitions: Iterable[Partition]) -> dict[Uuid, list[int]]:
    """The partitions under their topics, in order: records and answers look the same each time."""
    topics: dict[Uuid, list[int]] = {}
    for topic_id, partition in sorted(partitions):
        topics.setdefault(topic_id, []).append(partition)
    return topics


def _stored(partitions: Mapping[Partition, int]) -> list[TopicPartitions]:
    return [
        TopicPartitions(
            topic_id=topic_id,
            partitions=numbers,
            assignment_epochs=[partitions[topic_id, number] for number in numbers],
        )
        for topic_id, numbers in by_topic(partitions).items()
    ]


def _loaded(topics: list[TopicPartitions], member_epoch: int) -> dict[Partition, int]:
    loaded = {}
    for topic in topics:
        # Brokers before 4.3 wrote no epochs: then the member's own is the earliest that is safe.
        epochs = topic.assignment_epochs or [member_epoch] * len(topic.partitions)
        for partition, epoch in zip(topic.partitions, epochs, strict=True):
            loaded[topic.topic_id, partition] = epoch
    return loaded
