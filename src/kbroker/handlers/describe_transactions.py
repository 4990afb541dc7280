"""DescribeTransactions (key 65): the state of transactional ids, and where they write."""

from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)


def begin(
    context: RequestContext, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    """Each transactional id has an answer of its own."""
    return DescribeTransactionsResponse(
        transaction_states=[_describe(context, each) for each in request.transactional_ids]
    )


def _describe(context: RequestContext, transactional_id: str) -> TransactionState:
    driver = context.broker.transactions.driver_of(transactional_id)
    if not transactional_id:
        driver = ErrorCode.INVALID_REQUEST
    if isinstance(driver, ErrorCode):
        return TransactionState(transactional_id=transactional_id, error_code=driver)
    return driver.shard.describe(transactional_id)
