"""Fetch (key 1): read record batches, waiting for more if there are too few."""

from kbroker.broker.requests import Polled, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

# Consumers have this replica id; others are brokers.
CONSUMER = -1


def begin(context: RequestContext, request: FetchRequest) -> FetchResponse | Polled[FetchResponse]:
    """Read now, or later."""
    replica_id = request.replica_id
    if request.replica_state is not None:
        replica_id = request.replica_state.replica_id
    if replica_id >= 0:
        return _refuse(request)
    return context.broker.fetcher.begin(request, context.api_version)


def _refuse(request: FetchRequest) -> FetchResponse:
    """Nobody replicates from this broker, so whoever says so is none of its peers (CVE-2018-1288).

    The error stands at every partition: before version 7 there is no other place for it.
    """
    return FetchResponse(
        responses=[
            FetchableTopicResponse(
                topic=topic.topic,
                topic_id=topic.topic_id,
                partitions=[
                    PartitionData(
                        partition_index=asked.partition,
                        error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER,
                        high_watermark=-1,
                        aborted_transactions=None,
                        records=b"",
                    )
                    for asked in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )
