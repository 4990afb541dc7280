"""WriteTxnMarkers (key 27): end transactions on partitions of this broker.

Coordinators on other brokers send it, and tools that end a transaction which its coordinator does
not know any more (KIP-664). A marker counts when it is committed, so the answer waits for that.
"""

from kbroker.broker.commit_wait import CommitWait
from kbroker.broker.markers import Written
from kbroker.broker.partition import EndOfTransaction
from kbroker.broker.requests import Later, RequestContext
from kbroker.model import TopicPartition
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


def begin(
    context: RequestContext, request: WriteTxnMarkersRequest
) -> WriteTxnMarkersResponse | Later[WriteTxnMarkersResponse]:
    """Append every marker; wait for their commit."""
    response = WriteTxnMarkersResponse()
    written: list[tuple[Written, WritableTxnMarkerPartitionResult]] = []
    for marker in request.markers:
        end = EndOfTransaction(
            marker.producer_id,
            marker.producer_epoch,
            marker.transaction_result,
            marker.coordinator_epoch,
            marker.transaction_version,
        )
        answer = WritableTxnMarkerResult(producer_id=marker.producer_id)
        response.markers.append(answer)
        for topic in marker.topics:
            results = []
            for index in topic.partition_indexes:
                result = WritableTxnMarkerPartitionResult(partition_index=index)
                outcome = context.broker.markers.append(TopicPartition(topic.name, index), end)
                if isinstance(outcome, ErrorCode):
                    result.error_code = outcome
                else:
                    written.append((outcome, result))
                results.append(result)
            answer.topics.append(WritableTxnMarkerTopicResult(name=topic.name, partitions=results))
    if all(each.is_committed for each, _ in written):
        return response
    timeout_s = context.broker.config.get_int("request.timeout.ms") / 1000
    return _Committing(response, written, context.broker.clock.now() + timeout_s)


class _Committing(Later[WriteTxnMarkersResponse]):
    """Appended, and waiting for the high watermarks."""

    __slots__ = ("_deadline", "_response", "_wait", "_written")

    def __init__(
        self,
        response: WriteTxnMarkersResponse,
        written: list[tuple[Written, WritableTxnMarkerPartitionResult]],
        deadline: float,
    ) -> None:
        self._response = response
        self._written = written
        self._deadline = deadline
        self._wait = CommitWait([(each.partition, each.last_offset) for each, _ in written])

    async def finish(self) -> WriteTxnMarkersResponse:
        """Answer; whoever sent a marker that was not committed in time sends it again."""
        await self._wait.wait_until(self._deadline)
        for written, result in self._written:
            if not written.is_committed:
                result.error_code = ErrorCode.REQUEST_TIMED_OUT
        return self._response
