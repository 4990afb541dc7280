"""InitProducerId (key 22): a producer id, so that retried batches are recognised.

With a transactional id the coordinator decides, and the producers that had it before are fenced.
"""

from kbroker.broker.control import ControlError
from kbroker.broker.requests import Later, RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

# Older clients do not know PRODUCER_FENCED.
_FENCED_VERSION = 4


async def handle(context: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
    """Hand out the next id, which is never given to another producer (P11), or the next epoch."""
    if (request.producer_id < 0) != (request.producer_epoch < 0):
        return _refusal(ErrorCode.INVALID_REQUEST)
    if request.transactional_id == "":
        return _refusal(ErrorCode.INVALID_REQUEST)
    try:
        if request.transactional_id is not None:
            return await _in_transactions(context, request, request.transactional_id)
        producer_id = await context.broker.producer_ids.next_id()
    except ControlError:
        # No block can be reserved now. Kafka's word for it, which every client tries again.
        return _refusal(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)


async def _in_transactions(
    context: RequestContext, request: InitProducerIdRequest, transactional_id: str
) -> InitProducerIdResponse:
    transactions = context.broker.transactions
    driver = transactions.driver_of(transactional_id)
    if isinstance(driver, ErrorCode):
        return _refusal(driver)
    new_producer_id = None
    if driver.shard.init_needs_producer_id(request):
        # The shard may need none any more when it is there; it is lost then.
        new_producer_id = await context.broker.producer_ids.next_id()
    answer = transactions.perform(
        transactional_id,
        lambda shard, ticket: shard.init_producer_id(
            request, ticket, transactions.timestamp_ms(), new_producer_id
        ),
        _refusal,
    )
    response = await answer.finish() if isinstance(answer, Later) else answer
    if response.error_code == ErrorCode.PRODUCER_FENCED and context.api_version < _FENCED_VERSION:
        response.error_code = ErrorCode.INVALID_PRODUCER_EPOCH
    return response


def _refusal(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error, producer_epoch=-1)
