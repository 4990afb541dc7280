"""LeaveGroup (key 13): leave a classic group at once, instead of by silence."""

from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse


def begin(
    context: RequestContext, request: LeaveGroupRequest
) -> LeaveGroupResponse | Later[LeaveGroupResponse]:
    """Answered when the group knows."""
    groups = context.broker.groups
    caller = groups.caller(context)

    def refuse(error: ErrorCode) -> LeaveGroupResponse:
        return LeaveGroupResponse(error_code=error)

    if not request.group_id:
        return refuse(ErrorCode.INVALID_GROUP_ID)
    return groups.perform(
        request.group_id,
        lambda shard, ticket: shard.leave_group(
            request, caller, ticket, groups.now(), groups.timestamp_ms()
        ),
        refuse,
    )
