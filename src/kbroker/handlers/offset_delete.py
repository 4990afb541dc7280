"""OffsetDelete (key 47): forget how far a group has read in some partitions."""

from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse


def begin(
    context: RequestContext, request: OffsetDeleteRequest
) -> OffsetDeleteResponse | Later[OffsetDeleteResponse]:
    """Answered when the offsets are forgotten for good."""

    def refuse(error: ErrorCode) -> OffsetDeleteResponse:
        return OffsetDeleteResponse(error_code=error)

    return context.broker.groups.perform(
        request.group_id, lambda shard, ticket: shard.offset_delete(request, ticket), refuse
    )
