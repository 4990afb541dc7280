"""SyncGroup (key 14): hand in the assignment of a generation, or receive one's part of it."""

from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

# From this version on members say which protocol they believe in (KIP-559).
_PROTOCOL_VERSION = 5


def begin(
    context: RequestContext, request: SyncGroupRequest
) -> SyncGroupResponse | Later[SyncGroupResponse]:
    """Answered when the leader of the group has handed in the assignment."""
    groups = context.broker.groups
    caller = groups.caller(context)

    def refuse(error: ErrorCode) -> SyncGroupResponse:
        return SyncGroupResponse(error_code=error)

    if context.api_version >= _PROTOCOL_VERSION and (
        request.protocol_type is None or request.protocol_name is None
    ):
        return refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not request.group_id:
        return refuse(ErrorCode.INVALID_GROUP_ID)
    return groups.perform(
        request.group_id,
        lambda shard, ticket: shard.sync_group(
            request, caller, ticket, groups.now(), groups.timestamp_ms()
        ),
        refuse,
    )
