"""JoinGroup (key 11): become a member of a classic group, or take part in its next generation."""

from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse

_NULL_NAMES_FROM = 7


def begin(
    context: RequestContext, request: JoinGroupRequest
) -> JoinGroupResponse | Later[JoinGroupResponse]:
    """Answered when the generation begins, which may take as long as the slowest member."""
    groups = context.broker.groups
    caller = groups.caller(context)

    def refuse(error: ErrorCode) -> JoinGroupResponse:
        # Before KIP-559 the name of a protocol cannot be null.
        name = None if context.api_version >= _NULL_NAMES_FROM else ""
        return JoinGroupResponse(error_code=error, member_id=request.member_id, protocol_name=name)

    if not request.group_id:
        return refuse(ErrorCode.INVALID_GROUP_ID)
    return groups.perform(
        request.group_id,
        lambda shard, ticket: shard.join_group(
            request,
            caller,
            ticket,
            groups.now(),
            groups.timestamp_ms(),
            groups.new_member_id(request.group_instance_id or caller.client_id),
        ),
        refuse,
    )
