"""InitProducerId (key 22): a producer id, so that retried batches are recognised."""

from kbroker.broker.control import ControlError
from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


async def handle(context: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
    """Hand out the next id; it is never given to another producer (P11)."""
    if request.transactional_id is not None:
        # No coordinator of transactions is here, which is what FindCoordinator says too.
        error = ErrorCode.NOT_COORDINATOR if request.transactional_id else ErrorCode.INVALID_REQUEST
        return InitProducerIdResponse(error_code=error, producer_epoch=-1)
    if (request.producer_id < 0) != (request.producer_epoch < 0):
        return InitProducerIdResponse(error_code=ErrorCode.INVALID_REQUEST, producer_epoch=-1)
    try:
        producer_id = await context.broker.producer_ids.next_id()
    except ControlError:
        # No block can be reserved now. Kafka's word for it, which every client tries again.
        error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return InitProducerIdResponse(error_code=error, producer_epoch=-1)
    return InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
