"""A new target assignment: what every member of a group shall have from this epoch on.

The target is computed at once and whole, by the assignor most members ask for. It
costs nobody a partition yet: reconciliation.py leads the members there one by one.
Only what differs from the last target is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.groups import consumer_records
from kbroker.groups.assignors import ASSIGNORS, MemberSpec
from kbroker.groups.subscriptions import partition_counts, subscribed_names, topic_ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kbroker.groups.assignors import Partitions
    from kbroker.groups.consumer_group import ConsumerGroup
    from kbroker.groups.consumer_members import ConsumerMember
    from kbroker.groups.group_records import GroupRecord
    from kbroker.groups.subscriptions import ResolvedRegex
    from kbroker.groups.topics_view import TopicsView


def new_target(
    group: ConsumerGroup,
    epoch: int,
    members: Sequence[ConsumerMember],
    resolved: Mapping[str, ResolvedRegex],
    topics: TopicsView,
    default_assignor: str,
    now_ms: int,
) -> tuple[dict[str, Partitions], list[GroupRecord]]:
    """What each of ``members`` shall have in ``epoch``, and the records that say so.

    ``members`` and ``resolved`` are what the group will have once the records of the request are
    replayed; ``group`` is what it has now.
    """
    names = {member.member_id: subscribed_names(member, resolved) for member in members}
    assignor = ASSIGNORS[group.preferred_assignor(members) or default_assignor]
    targets = assignor(
        {
            member.member_id: MemberSpec(
                instance_id=member.instance_id,
                topics=topic_ids(names[member.member_id], topics),
                owned=_last_target(group, member),
            )
            for member in members
        },
        partition_counts(frozenset().union(*names.values()), topics),
    )
    records = [
        consumer_records.target_assignment(group.group_id, member_id, partitions)
        for member_id, partitions in targets.items()
        if partitions != group.targets.get(member_id)
    ]
    records.append(consumer_records.target_epoch(group.group_id, epoch, now_ms))
    return targets, records


def _last_target(group: ConsumerGroup, member: ConsumerMember) -> Partitions:
    """What the last target gave a member, or the static member whose place it takes."""
    predecessor = group.static_member(member.instance_id)
    if member.member_id not in group.targets and predecessor is not None:
        return group.target(predecessor.member_id)
    return group.target(member.member_id)
