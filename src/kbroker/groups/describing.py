"""Classic groups as DescribeGroups and ListGroups show them, and the filter of ListGroups."""

from collections.abc import Collection

from kbroker.groups.classic_group import ClassicGroup, ClassicState
from kbroker.wire import ErrorCode
from kbroker.wire.messages.describe_groups import DescribedGroup
from kbroker.wire.messages.list_groups import ListedGroup

# What ListGroups calls the type of a classic group (KIP-848).
_CLASSIC_TYPE = "classic"

# From this version on DescribeGroups tells a group that does not exist from a dead one (KIP-1043).
_NOT_FOUND_FROM = 6


def describe_classic(group: ClassicGroup) -> DescribedGroup:
    """The group; only a stable one has a protocol that all its members speak for sure."""
    protocol = group.protocol_name if group.state is ClassicState.STABLE else None
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
        members=[member.described(protocol) for member in group.members.values()],
    )


def not_described(group_id: str, version: int, message: str) -> DescribedGroup:
    """The answer about a group that is not there, or not a classic one."""
    described = DescribedGroup(group_id=group_id, group_state=ClassicState.DEAD.value)
    if version >= _NOT_FOUND_FROM:
        described.error_code = ErrorCode.GROUP_ID_NOT_FOUND
        described.error_message = message
    return described


def list_classic(group: ClassicGroup) -> ListedGroup:
    """The group as a line of a list."""
    return ListedGroup(
        group_id=group.group_id,
        protocol_type=group.protocol_type or "",
        group_state=group.state.value,
        group_type=_CLASSIC_TYPE,
    )


def matches(listed: ListedGroup, states: Collection[str], types: Collection[str]) -> bool:
    """Whether a group is wanted: an empty filter wants all, and case does not matter."""
    wanted_states = {state.strip().lower() for state in states}
    wanted_types = {group_type.strip().lower() for group_type in types}
    return (not states or listed.group_state.lower() in wanted_states) and (
        not types or listed.group_type.lower() in wanted_types
    )
