"""FindCoordinator (key 10): who coordinates a group or a transaction.

Asking for the coordinator of a group makes the topic of group offsets, if it is not there yet. As
long as nobody coordinates transactions and share groups, the honest answer is that no coordinator
is available; clients wait and ask again.
"""

from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

# From this version on many keys can be asked for at once (KIP-699).
_BATCHED_VERSION = 4
_GROUP, _TRANSACTION, _SHARE = range(3)
_NO_NODE = -1


def begin(
    context: RequestContext, request: FindCoordinatorRequest
) -> FindCoordinatorResponse | Later[FindCoordinatorResponse]:
    """Answer for every key."""
    if request.key_type == _GROUP and context.broker.groups.partition_count is None:
        return _Creating(context, request)
    return _answer(context, request)


class _Creating(Later[FindCoordinatorResponse]):
    """The topic of group offsets is being made."""

    __slots__ = ("_context", "_request")

    def __init__(self, context: RequestContext, request: FindCoordinatorRequest) -> None:
        self._context = context
        self._request = request

    async def finish(self) -> FindCoordinatorResponse:
        """Answer when it is there, or could not be made."""
        await self._context.broker.groups.create_topic()
        return _answer(self._context, self._request)


def _answer(context: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    if context.api_version < _BATCHED_VERSION:
        found = _find(context, request.key_type, request.key)
        return FindCoordinatorResponse(
            error_code=found.error_code,
            error_message=found.error_message,
            node_id=found.node_id,
            host=found.host,
            port=found.port,
        )
    return FindCoordinatorResponse(
        coordinators=[_find(context, request.key_type, key) for key in request.coordinator_keys]
    )


def _find(context: RequestContext, key_type: int, key: str) -> Coordinator:
    if key_type not in (_GROUP, _TRANSACTION, _SHARE):
        message = f"Unknown coordinator type {key_type}."
        return _refusal(key, ErrorCode.INVALID_REQUEST, message)
    leader = context.broker.groups.leader_of(key) if key_type == _GROUP else None
    endpoints = context.broker.endpoints(context.connection.listener)
    for node_id, host, port, _ in endpoints:
        if node_id == leader:
            return Coordinator(key=key, node_id=node_id, host=host, port=port)
    message = "The coordinator is not available."
    return _refusal(key, ErrorCode.COORDINATOR_NOT_AVAILABLE, message)


def _refusal(key: str, error: ErrorCode, message: str) -> Coordinator:
    return Coordinator(
        key=key, node_id=_NO_NODE, port=_NO_NODE, error_code=error, error_message=message
    )
