"""AddOffsetsToTxn (key 25): a producer will commit offsets of a group in its transaction.

The partition of ``__consumer_offsets`` that the group lives in becomes part of the transaction.
Clients of version 2 of transactions do not send this: TxnOffsetCommit does it for them.
"""

from kbroker.broker.coordinator import partition_of_key
from kbroker.broker.gathering import gather
from kbroker.broker.requests import Later, RequestContext
from kbroker.cluster.topic_names import CONSUMER_OFFSETS
from kbroker.model import TopicPartition
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)

# Older clients do not know PRODUCER_FENCED.
_FENCED_VERSION = 2


def begin(
    context: RequestContext, request: AddOffsetsToTxnRequest
) -> AddOffsetsToTxnResponse | Later[AddOffsetsToTxnResponse]:
    """Answered when the partition is part of the transaction."""
    count = context.broker.groups.partition_count
    if count is None:
        # Nobody has asked for the group's coordinator yet; clients do so after this only.
        return _Creating(context, request)
    return _add(context, request, count)


class _Creating(Later[AddOffsetsToTxnResponse]):
    """The topic of group offsets is being made."""

    __slots__ = ("_context", "_request")

    def __init__(self, context: RequestContext, request: AddOffsetsToTxnRequest) -> None:
        self._context = context
        self._request = request

    async def finish(self) -> AddOffsetsToTxnResponse:
        """Add its partition when it is there; a client tries again if it could not be made."""
        groups = self._context.broker.groups
        await groups.create_topic()
        if groups.partition_count is None:
            return AddOffsetsToTxnResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
        answer = _add(self._context, self._request, groups.partition_count)
        return await answer.finish() if isinstance(answer, Later) else answer


def _add(
    context: RequestContext, request: AddOffsetsToTxnRequest, count: int
) -> AddOffsetsToTxnResponse | Later[AddOffsetsToTxnResponse]:
    place = TopicPartition(CONSUMER_OFFSETS, partition_of_key(request.group_id, count))
    transactions = context.broker.transactions
    writer = transactions.writer(
        request.transactional_id, request.producer_id, request.producer_epoch
    )
    answer = transactions.add_partitions(writer, [place], client_version=0)

    def in_words_of_the_client(answers: list[AddOffsetsToTxnResponse]) -> AddOffsetsToTxnResponse:
        (response,) = answers
        is_old = context.api_version < _FENCED_VERSION
        if is_old and response.error_code == ErrorCode.PRODUCER_FENCED:
            response.error_code = ErrorCode.INVALID_PRODUCER_EPOCH
        return response

    return gather([answer], in_words_of_the_client)
