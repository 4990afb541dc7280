"""FindCoordinator (key 10): who coordinates a group or a transaction.

As long as this broker coordinates neither, the honest answer is that no coordinator is available;
clients wait and ask again.
"""

from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

# From this version on many keys can be asked for at once (KIP-699).
_BATCHED_VERSION = 4
# Group, transaction, share (KIP-932).
_KEY_TYPES = (0, 1, 2)
_NO_NODE = -1


def begin(context: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    """Answer for every key."""
    if request.key_type in _KEY_TYPES:
        error, message = ErrorCode.COORDINATOR_NOT_AVAILABLE, "The coordinator is not available."
    else:
        error, message = ErrorCode.INVALID_REQUEST, "There is no such type of coordinator."
    if context.api_version < _BATCHED_VERSION:
        return FindCoordinatorResponse(
            error_code=error, error_message=message, node_id=_NO_NODE, port=_NO_NODE
        )
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(
                key=key, node_id=_NO_NODE, port=_NO_NODE, error_code=error, error_message=message
            )
            for key in request.coordinator_keys
        ]
    )
