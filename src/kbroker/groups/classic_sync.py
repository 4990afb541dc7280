"""SyncGroup and Heartbeat to a classic group.

state                  SyncGroup                             Heartbeat
---------------------  ------------------------------------  ---------------------------
Empty                  UNKNOWN_MEMBER_ID                     UNKNOWN_MEMBER_ID
PreparingRebalance     REBALANCE_IN_PROGRESS                 REBALANCE_IN_PROGRESS
CompletingRebalance    parked; the leader's answers all      NONE
Stable                 the assignment                        NONE
"""

from kbroker.groups.caller import Caller
from kbroker.groups.classic_answers import GroupOutcome, end_sync, reply, synced
from kbroker.groups.classic_group import ClassicGroup, ClassicState
from kbroker.groups.classic_rebalance import ClassicRebalance
from kbroker.groups.moment import Moment
from kbroker.machine import Outcome, Ticket
from kbroker.wire import ErrorCode, Message
from kbroker.wire.messages.heartbeat import HeartbeatRequest
from kbroker.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

# From this version on members say which protocol they think was chosen (KIP-559).
_PROTOCOL_REQUIRED_FROM = 5


def sync(
    rebalance: ClassicRebalance,
    group: ClassicGroup,
    request: SyncGroupRequest,
    ticket: Ticket,
    at: Moment,
) -> GroupOutcome:
    """Answer with the assignment, or wait for it, or bring it."""
    error = _check(group, request)
    if error is not ErrorCode.NONE:
        return reply(ticket, SyncGroupResponse(error_code=error))
    member = group.members[request.member_id]
    rebalance.sync_arrived(group, member.member_id)
    if group.state is ClassicState.STABLE:
        return reply(ticket, synced(group, member.assignment))
    # A sync that was sent twice waits once; the first connection is most likely gone.
    earlier = end_sync(member, ErrorCode.REBALANCE_IN_PROGRESS)
    member.sync_ticket = ticket
    if group.leader_id != member.member_id:
        return earlier
    return earlier + _distribute(rebalance, group, request, at)


def _check(group: ClassicGroup, request: SyncGroupRequest) -> ErrorCode:
    error = group.check_member(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    if request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    for said, known in (
        (request.protocol_type, group.protocol_type),
        (request.protocol_name, group.protocol_name),
    ):
        if said is not None and known is not None and said != known:
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.state is ClassicState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _distribute(
    rebalance: ClassicRebalance, group: ClassicGroup, request: SyncGroupRequest, at: Moment
) -> GroupOutcome:
    """Write what the leader decided, and tell everybody who waits for it.

    The group becomes stable when the record is replayed; no answer leaves before the record
    is committed, so nobody works with an assignment that a failover could take back.
    """
    assignments = {each.member_id: bytes(each.assignment) for each in request.assignments}
    replies: list[tuple[Ticket, Message]] = []
    for member in group.members.values():
        ticket, member.sync_ticket = member.sync_ticket, None
        if ticket is not None:
            replies.append((ticket, synced(group, assignments.get(member.member_id, b""))))
            rebalance.keep_alive(group, member.member_id, member.session_timeout_ms, at)
    return Outcome(records=(group.metadata_record(assignments, at.now_ms),), replies=tuple(replies))


def names_its_protocol(request: SyncGroupRequest, caller: Caller) -> bool:
    """Whether a request has the protocol type and name that its version demands."""
    if caller.api_version < _PROTOCOL_REQUIRED_FROM:
        return True
    return request.protocol_type is not None and request.protocol_name is not None


def heartbeat(
    rebalance: ClassicRebalance, group: ClassicGroup, request: HeartbeatRequest, at: Moment
) -> ErrorCode:
    """Take a sign of life, and say whether the member has to join again."""
    error = group.check_member(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    if request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    member = group.members[request.member_id]
    rebalance.keep_alive(group, member.member_id, member.session_timeout_ms, at)
    if group.state is ClassicState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE
