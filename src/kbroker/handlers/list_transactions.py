"""ListTransactions (key 66): the transactional ids that this broker coordinates."""

from kbroker.broker.requests import RequestContext
from kbroker.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)


def begin(context: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    """All in one of the states, of one of the producers, old enough, and named as asked for."""
    return context.broker.transactions.list(request)
