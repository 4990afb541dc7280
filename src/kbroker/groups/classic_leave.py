"""LeaveGroup: members that go by themselves, and static ones that an administrator sends away."""

from kbroker.groups.classic_answers import GroupOutcome
from kbroker.groups.classic_group import ClassicGroup, ClassicState
from kbroker.groups.classic_rebalance import ClassicRebalance
from kbroker.groups.moment import Moment
from kbroker.machine import Outcome, Ticket
from kbroker.wire import ErrorCode
from kbroker.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)

# From this version on one request can name many members, by instance id too (KIP-345).
_BATCHED_FROM = 3


def leaving(request: LeaveGroupRequest, version: int) -> list[MemberIdentity]:
    """Who is to leave; an old request names one member."""
    if version >= _BATCHED_FROM:
        return request.members
    return [MemberIdentity(member_id=request.member_id)]


def left(members: list[MemberResponse], version: int) -> LeaveGroupResponse:
    """The answer; an old one has no place but its own error code for that of the member."""
    if version >= _BATCHED_FROM:
        return LeaveGroupResponse(members=members)
    return LeaveGroupResponse(error_code=members[0].error_code)


def leave(
    rebalance: ClassicRebalance,
    group: ClassicGroup,
    identities: list[MemberIdentity],
    version: int,
    ticket: Ticket,
    at: Moment,
) -> GroupOutcome:
    """Take out everybody who is named rightly, and rebalance once for all of them."""
    outcome: GroupOutcome = Outcome()
    results = []
    for identity in identities:
        error, answers = _leave_one(rebalance, group, identity)
        outcome += answers
        results.append(member_left(identity, error))
    somebody_left = any(result.error_code == ErrorCode.NONE for result in results)
    # An empty group has lost a pending member at most, which changes nothing.
    if somebody_left and group.state is not ClassicState.EMPTY:
        outcome += rebalance.prepare_or_complete(group, at)
    return outcome + Outcome(replies=((ticket, left(results, version)),))


def member_left(identity: MemberIdentity, error: ErrorCode) -> MemberResponse:
    """How it went for one member."""
    return MemberResponse(
        member_id=identity.member_id,
        group_instance_id=identity.group_instance_id,
        error_code=error,
    )


def _leave_one(
    rebalance: ClassicRebalance, group: ClassicGroup, identity: MemberIdentity
) -> tuple[ErrorCode, GroupOutcome]:
    member_id = identity.member_id
    if not member_id and identity.group_instance_id is not None:
        # An administrator knows the instance, not the id of its present process.
        member_id = group.static_member_id(identity.group_instance_id) or ""
    if member_id in group.pending_members:
        rebalance.end_session(group, member_id)
        group.remove(member_id)
        return ErrorCode.NONE, Outcome()
    error = group.check_member(member_id, identity.group_instance_id)
    if error is not ErrorCode.NONE:
        return error, Outcome()
    return ErrorCode.NONE, rebalance.remove_member(group, group.members[member_id])
