"""The range assignor: the members, in a fixed order, divide every topic into ranges.

Topics with the same number of partitions and the same subscribers are
co-partitioned: whoever reads partition 3 of one reads partition 3 of the other,
which joins need. Static members come first and by instance id, so that they find
their ranges again after a restart, whatever their member ids are then.
"""

from collections.abc import Mapping

from kbroker.groups.assignors.spec import MemberSpec, Partition, Partitions
from kbroker.model import Uuid


def assign_range(
    members: Mapping[str, MemberSpec], partition_counts: Mapping[Uuid, int]
) -> dict[str, Partitions]:
    """Cut each topic into one range per subscriber; the first ranges are longer by one."""
    in_order = sorted(members, key=lambda member_id: _order(member_id, members[member_id]))
    assigned: dict[str, set[Partition]] = {member_id: set() for member_id in in_order}
    for topic_id, count in partition_counts.items():
        subscribers = [member for member in in_order if topic_id in members[member].topics]
        start = 0
        for position, member_id in enumerate(subscribers):
            length = count // len(subscribers) + (position < count % len(subscribers))
            assigned[member_id].update((topic_id, start + i) for i in range(length))
            start += length
    return {member_id: frozenset(partitions) for member_id, partitions in assigned.items()}


def _order(member_id: str, member: MemberSpec) -> tuple[bool, str]:
    if member.instance_id is None:
        return (True, member_id)
    return (False, member.instance_id)
