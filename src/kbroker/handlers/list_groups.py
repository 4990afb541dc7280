"""ListGroups (key 16): the groups that this broker coordinates."""

from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse


def begin(context: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    """All groups in one of the states and of one of the types that were asked for."""
    shards = context.broker.groups.active_shards()
    if isinstance(shards, ErrorCode):
        return ListGroupsResponse(error_code=shards)
    return ListGroupsResponse(
        groups=[
            group
            for shard in shards
            for group in shard.list_groups(request.states_filter, request.types_filter)
        ]
    )
