"""Fetch (key 1): read record batches, waiting for more if there are too few."""

from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.fetch import FetchRequest, FetchResponse

# Consumers have this replica id; others are brokers.
CONSUMER = -1


def begin(context: RequestContext, request: FetchRequest) -> FetchResponse | Later[FetchResponse]:
    """Read now, or later."""
    replica_id = request.replica_id
    if request.replica_state is not None:
        replica_id = request.replica_state.replica_id
    if replica_id >= 0:
        # Nobody replicates from this broker, so whoever says so is none of its peers
        # (CVE-2018-1288).
        return FetchResponse(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return context.broker.fetcher.begin(request, context.api_version)
