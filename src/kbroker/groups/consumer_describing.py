"""Consumer groups as ConsumerGroupDescribe and ListGroups show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.groups.consumer_members import by_topic
from kbroker.groups.embedded_protocol import PROTOCOL_TYPE
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from kbroker.wire.messages.list_groups import ListedGroup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kbroker.groups.assignors import Partition
    from kbroker.groups.consumer_group import ConsumerGroup
    from kbroker.groups.consumer_members import ConsumerMember
    from kbroker.groups.topics_view import TopicsView

CONSUMER_TYPE = "consumer"
"""What ListGroups calls the type of a consumer group."""

# The protocol a member speaks, as ConsumerGroupDescribe has it (KIP-1099).
_CLASSIC_MEMBER = 0
_CONSUMER_MEMBER = 1


def describe_consumer(
    group: ConsumerGroup, topics: TopicsView, default_assignor: str
) -> DescribedGroup:
    """The group with its members, what each has and what each shall have."""
    members = group.members.values()
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.preferred_assignor(members) or default_assignor,
        members=[_described(group, member, topics) for member in members],
    )


def consumer_not_described(group_id: str) -> DescribedGroup:
    """The answer about a group that is not there."""
    return DescribedGroup(
        group_id=group_id,
        error_code=ErrorCode.GROUP_ID_NOT_FOUND,
        error_message=f"Group {group_id} not found.",
    )


def list_consumer(group: ConsumerGroup) -> ListedGroup:
    """The group as a line of a list."""
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=PROTOCOL_TYPE,
        group_state=group.state.value,
        group_type=CONSUMER_TYPE,
    )


def _described(group: ConsumerGroup, member: ConsumerMember, topics: TopicsView) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        subscribed_topic_regex=member.topic_regex,
        assignment=_assignment(member.assigned, topics),
        target_assignment=_assignment(group.target(member.member_id), topics),
        member_type=_CONSUMER_MEMBER if member.classic is None else _CLASSIC_MEMBER,
    )


def _assignment(partitions: Iterable[Partition], topics: TopicsView) -> Assignment:
    return Assignment(
        topic_partitions=[
            TopicPartitions(topic_id=topic_id, topic_name=name, partitions=numbers)
            for topic_id, numbers in by_topic(partitions).items()
            if (name := topics.topic_name(topic_id)) is not None
        ]
    )
