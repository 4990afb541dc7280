"""Heartbeat (key 12): stay a member of a classic group, and hear of a rebalance."""

from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def begin(
    context: RequestContext, request: HeartbeatRequest
) -> HeartbeatResponse | Later[HeartbeatResponse]:
    """Answered at once."""
    groups = context.broker.groups

    def refuse(error: ErrorCode) -> HeartbeatResponse:
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            # The member is most likely fine, and would only begin to look for a coordinator.
            return HeartbeatResponse()
        return HeartbeatResponse(error_code=error)

    if not request.group_id:
        return refuse(ErrorCode.INVALID_GROUP_ID)
    return groups.perform(
        request.group_id,
        lambda shard, ticket: shard.heartbeat(request, ticket, groups.now(), groups.timestamp_ms()),
        refuse,
    )
