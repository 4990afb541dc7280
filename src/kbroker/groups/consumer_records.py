"""The records of consumer groups, made from what they are about.

One function per record, named like it. A group is the sum of its records: see
`ConsumerGroup.replay`, which reads what is written here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.groups.consumer_members import by_topic
from kbroker.groups.group_records import GroupRecord, tombstone
from kbroker.wire.messages.consumer_group_current_member_assignment_record import (
    ConsumerGroupCurrentMemberAssignmentKey,
)
from kbroker.wire.messages.consumer_group_member_metadata_record import (
    ConsumerGroupMemberMetadataKey,
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
    TopicPartition,
)
from kbroker.wire.messages.consumer_group_target_assignment_metadata_record import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)

if TYPE_CHECKING:
    from kbroker.groups.assignors import Partitions
    from kbroker.groups.consumer_group import ConsumerGroup
    from kbroker.groups.consumer_members import ConsumerMember
    from kbroker.groups.subscriptions import ResolvedRegex


def group_epoch(group_id: str, epoch: int, metadata_hash: int) -> GroupRecord:
    """The group has come to a new epoch, for topics with this hash."""
    return GroupRecord(
        ConsumerGroupMetadataKey(group_id=group_id),
        ConsumerGroupMetadataValue(epoch=epoch, metadata_hash=metadata_hash),
    )


def partition_metadata_gone(group_id: str) -> GroupRecord:
    """What Kafka 4.0 wrote of the topics of a group gives way to the hash in its epoch."""
    return tombstone(ConsumerGroupPartitionMetadataKey(group_id=group_id))


def member_metadata(group_id: str, member: ConsumerMember) -> GroupRecord:
    """Who a member is and what it subscribes to."""
    key = ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member.member_id)
    return GroupRecord(key, member.metadata_value())


def current_assignment(group_id: str, member: ConsumerMember) -> GroupRecord:
    """Where a member stands."""
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member.member_id)
    return GroupRecord(key, member.assignment_value())


def target_assignment(group_id: str, member_id: str, partitions: Partitions) -> GroupRecord:
    """What a member shall have."""
    topics = [
        TopicPartition(topic_id=topic_id, partitions=numbers)
        for topic_id, numbers in by_topic(partitions).items()
    ]
    return GroupRecord(
        ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id),
        ConsumerGroupTargetAssignmentMemberValue(topic_partitions=topics),
    )


def target_epoch(group_id: str, epoch: int, timestamp_ms: int) -> GroupRecord:
    """The target assignment is complete for this epoch; it follows the members' records."""
    return GroupRecord(
        ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id),
        ConsumerGroupTargetAssignmentMetadataValue(
            assignment_epoch=epoch, assignment_timestamp=timestamp_ms
        ),
    )


def regular_expression(group_id: str, regex: str, resolved: ResolvedRegex) -> GroupRecord:
    """The topics that a regular expression stands for."""
    return GroupRecord(
        ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex),
        ConsumerGroupRegularExpressionValue(
            topics=sorted(resolved.topics),
            version=resolved.revision,
            timestamp=resolved.timestamp_ms,
        ),
    )


def regular_expression_gone(group_id: str, regex: str) -> GroupRecord:
    """Nobody subscribes to a regular expression any more."""
    return tombstone(ConsumerGroupRegularExpressionKey(group_id=group_id, regular_expression=regex))


def member_gone(group_id: str, member_id: str) -> list[GroupRecord]:
    """A member has left: first its partitions, then its target, then itself."""
    return [
        tombstone(ConsumerGroupCurrentMemberAssignmentKey(group_id=group_id, member_id=member_id)),
        tombstone(ConsumerGroupTargetAssignmentMemberKey(group_id=group_id, member_id=member_id)),
        tombstone(ConsumerGroupMemberMetadataKey(group_id=group_id, member_id=member_id)),
    ]


def group_gone(group: ConsumerGroup) -> list[GroupRecord]:
    """Nothing is left of a group: the inner parts first, so that no replay finds half a group."""
    group_id = group.group_id
    records = []
    for member_id in group.members:
        records += member_gone(group_id, member_id)
    records.append(tombstone(ConsumerGroupTargetAssignmentMetadataKey(group_id=group_id)))
    records += (regular_expression_gone(group_id, regex) for regex in group.resolved)
    if group.has_partition_metadata:
        records.append(partition_metadata_gone(group_id))
    records.append(tombstone(ConsumerGroupMetadataKey(group_id=group_id)))
    return records
