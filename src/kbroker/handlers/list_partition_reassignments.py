"""ListPartitionReassignments (key 46): which replicas are on the move (KIP-455).

None ever is: a reassignment is done when its request is answered.
"""

from kbroker.broker.requests import RequestContext
from kbroker.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


def begin(
    context: RequestContext,  # noqa: ARG001
    request: ListPartitionReassignmentsRequest,  # noqa: ARG001
) -> ListPartitionReassignmentsResponse:
    """Nothing is under way, so there is nothing to tell about any topic."""
    return ListPartitionReassignmentsResponse(error_message=None)
