"""ConsumerGroupHeartbeat (key 68): the one request of a member of a consumer group (KIP-848)."""

from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)


def begin(
    context: RequestContext, request: ConsumerGroupHeartbeatRequest
) -> ConsumerGroupHeartbeatResponse | Later[ConsumerGroupHeartbeatResponse]:
    """Join, leave, or say what is owned; hear what shall be owned."""
    groups = context.broker.groups
    caller = groups.caller(context)

    def refuse(error: ErrorCode) -> ConsumerGroupHeartbeatResponse:
        return ConsumerGroupHeartbeatResponse(error_code=error)

    return groups.perform(
        request.group_id,
        lambda shard, ticket: shard.consumer_group_heartbeat(
            request,
            caller,
            ticket,
            groups.now(),
            groups.timestamp_ms(),
            groups.new_uuid_text(),
        ),
        refuse,
    )
