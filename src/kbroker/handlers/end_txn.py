"""EndTxn (key 26): commit or abort a transaction.

Answered when the decision is durable; the markers follow. From version 5 on the producer gets an
epoch for its next transaction with the answer (KIP-890).
"""

from kbroker.broker.control import ControlError
from kbroker.broker.gathering import gather
from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.end_txn import EndTxnRequest, EndTxnResponse

# Older clients do not know PRODUCER_FENCED.
_FENCED_VERSION = 2
# From this version on the client has an epoch for each transaction.
_EPOCH_PER_TRANSACTION_VERSION = 5


def begin(
    context: RequestContext, request: EndTxnRequest
) -> EndTxnResponse | Later[EndTxnResponse]:
    """Let the coordinator decide."""
    if not request.transactional_id:
        return _refusal(ErrorCode.INVALID_REQUEST)
    driver = context.broker.transactions.driver_of(request.transactional_id)
    if isinstance(driver, ErrorCode):
        return _refusal(driver)
    if driver.shard.end_needs_producer_id(request, _client_version(context)):
        return _Rotating(context, request)
    return _end(context, request, None)


def _client_version(context: RequestContext) -> int:
    return 2 if context.api_version >= _EPOCH_PER_TRANSACTION_VERSION else 0


def _end(
    context: RequestContext, request: EndTxnRequest, new_producer_id: int | None
) -> EndTxnResponse | Later[EndTxnResponse]:
    transactions = context.broker.transactions
    answer = transactions.perform(
        request.transactional_id,
        lambda shard, ticket: shard.end_transaction(
            request,
            _client_version(context),
            ticket,
            transactions.timestamp_ms(),
            new_producer_id,
        ),
        _refusal,
    )
    if context.api_version >= _FENCED_VERSION:
        return answer
    return gather([answer], _in_words_of_an_old_client)


def _in_words_of_an_old_client(answers: list[EndTxnResponse]) -> EndTxnResponse:
    (response,) = answers
    if response.error_code == ErrorCode.PRODUCER_FENCED:
        response.error_code = ErrorCode.INVALID_PRODUCER_EPOCH
    return response


class _Rotating(Later[EndTxnResponse]):
    """The producer has used up its epochs and gets a new id, which may have to be reserved."""

    __slots__ = ("_context", "_request")

    def __init__(self, context: RequestContext, request: EndTxnRequest) -> None:
        self._context = context
        self._request = request

    async def finish(self) -> EndTxnResponse:
        """Decide when the id is there."""
        try:
            producer_id = await self._context.broker.producer_ids.next_id()
        except ControlError:
            return _refusal(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        answer = _end(self._context, self._request, producer_id)
        return await answer.finish() if isinstance(answer, Later) else answer


def _refusal(error: ErrorCode) -> EndTxnResponse:
    return EndTxnResponse(error_code=error)
