"""FindCoordinator (key 10): who coordinates a group or a transaction.

Asking for a coordinator makes the topic that its records lie in, if it is not there yet. As long as
nobody coordinates share groups, the honest answer is that no coordinator is available; clients wait
and ask again.
"""

from kbroker.broker.group_coordinator import GroupCoordinator
from kbroker.broker.requests import Later, RequestContext
from kbroker.broker.transaction_coordinator import TransactionCoordinator
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
    coordinator = _coordinator(context, request.key_type)
    if coordinator is not None and coordinator.partition_count is None:
        return _Creating(context, request, coordinator)
    return _answer(context, request)


def _coordinator(
    context: RequestContext, key_type: int
) -> GroupCoordinator | TransactionCoordinator | None:
    if key_type == _GROUP:
        return context.broker.groups
    return context.broker.transactions if key_type == _TRANSACTION else None


class _Creating(Later[FindCoordinatorResponse]):
    """The topic of the coordinator is being made."""

    __slots__ = ("_context", "_coordinator", "_request")

    def __init__(
        self,
        context: RequestContext,
        request: FindCoordinatorRequest,
        coordinator: GroupCoordinator | TransactionCoordinator,
    ) -> None:
        self._context = context
        self._request = request
        self._coordinator = coordinator

    async def finish(self) -> FindCoordinatorResponse:
        """Answer when it is there, or could not be made."""
        await self._coordinator.create_topic()
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
    coordinator = _coordinator(context, key_type)
    leader = None if coordinator is None else coordinator.leader_of(key)
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
