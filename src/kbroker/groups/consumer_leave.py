"""Members go: because they said so, or because they were not heard of for too long.

What a member held is free with the records that remove it, and the group gets a
new epoch. The new target assignment is not computed here but with the next
heartbeat of anybody: when a whole group is shut down, its members leave one after
another, and only the survivors need to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.groups import migration
from kbroker.machine import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbroker.groups.classic_answers import GroupOutcome
    from kbroker.groups.consumer_group import ConsumerGroup
    from kbroker.groups.consumer_members import ConsumerMember
    from kbroker.groups.consumer_side import ConsumerSide
    from kbroker.groups.moment import Moment


def fence(
    side: ConsumerSide, group: ConsumerGroup, members: Sequence[ConsumerMember], moment: Moment
) -> GroupOutcome:
    """Remove members; if only classic ones are left, the group becomes a classic one."""
    for member in members:
        side.forget_waits(group.group_id, member.member_id)
    leaving = {member.member_id for member in members}
    if migration.can_downgrade(side, group, leaving):
        return migration.downgrade(side, group, leaving, moment)
    change = side.change(group, moment)
    for member in members:
        change.remove(member.member_id)
    change.refresh(bump=True)
    return Outcome(records=tuple(change.records))
