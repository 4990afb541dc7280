"""EndTxn: whether a transaction may end so, and what its producer goes on with.

Version 1 (clients up to EndTxn 4): the epoch must be the one we know (T6), and the answer to a
retry depends on how the transaction ended.

Version 2 (KIP-890): each end takes an epoch, so the epoch of a request tells whether it is new or
a retry (its epoch is then one behind, or that of the id before a rotation). An abort may come
without a beginning: the producer had an error before its first write and wants a new epoch.
"""

from typing import NamedTuple

from kbroker.txn.states import PREPARED, TransactionState
from kbroker.txn.transaction import (
    EPOCH_PER_TRANSACTION,
    LAST_EPOCH,
    NO_PRODUCER_ID,
    OLDEST_VERSION,
    Transaction,
)
from kbroker.wire import ErrorCode
from kbroker.wire.messages.end_txn import EndTxnRequest


class Ended(NamedTuple):
    """What the producer is told, and the decision to be written, if there is one."""

    error: ErrorCode
    transaction: Transaction | None = None


_INVALID_STATE = Ended(ErrorCode.INVALID_TXN_STATE)
_FENCED = Ended(ErrorCode.PRODUCER_FENCED)
_WRONG_ID = Ended(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
_CONCURRENT = Ended(ErrorCode.CONCURRENT_TRANSACTIONS)
_DONE_BEFORE = Ended(ErrorCode.NONE)


def needs_producer_id(known: Transaction | None, request: EndTxnRequest, version: int) -> bool:
    """Whether `end` will want a producer id that nobody has had."""
    return (
        known is not None
        and version >= EPOCH_PER_TRANSACTION
        and known.state not in PREPARED
        and known.is_epoch_exhausted
        and request.producer_epoch == known.producer_epoch
    )


def end(
    known: Transaction | None,
    request: EndTxnRequest,
    *,
    client_version: int,
    new_producer_id: int | None,
    now_ms: int,
) -> Ended:
    """Decide; ``new_producer_id`` is there if `needs_producer_id` said so."""
    if known is None:
        return _WRONG_ID
    if client_version < EPOCH_PER_TRANSACTION:
        return _end_version_1(known, request, now_ms)
    is_retry = _is_retry(known, request)
    if request.producer_id != known.producer_id and not is_retry:
        return _WRONG_ID
    if not is_retry and request.producer_epoch != known.producer_epoch:
        return _FENCED
    if known.state in PREPARED:
        # With the epoch of its next transaction nobody can end this one.
        return _CONCURRENT if is_retry else _FENCED
    if is_retry:
        return _answer_retry(known, request)
    if known.state is not TransactionState.ONGOING and request.committed:
        return _INVALID_STATE
    next_producer_id = NO_PRODUCER_ID
    if known.is_epoch_exhausted:
        assert new_producer_id is not None
        next_producer_id = new_producer_id
    return Ended(
        ErrorCode.NONE,
        known.prepared(
            committed=request.committed,
            client_version=client_version,
            next_producer_id=next_producer_id,
            now_ms=now_ms,
        ),
    )


def _is_retry(known: Transaction, request: EndTxnRequest) -> bool:
    """Whether the request was carried out before, as the epoch tells."""
    if known.state in (TransactionState.EMPTY, TransactionState.ONGOING):
        return False
    if request.producer_id == known.producer_id:
        return request.producer_epoch + 1 == known.producer_epoch
    return (
        known.state not in PREPARED
        and request.producer_id == known.previous_producer_id
        and request.producer_epoch == LAST_EPOCH - 1
        and known.producer_epoch == 0
    )


def _answer_retry(known: Transaction, request: EndTxnRequest) -> Ended:
    was_committed = known.state is TransactionState.COMPLETE_COMMIT
    return _DONE_BEFORE if request.committed is was_committed else _INVALID_STATE


def _end_version_1(known: Transaction, request: EndTxnRequest, now_ms: int) -> Ended:
    if request.producer_id != known.producer_id:
        return _WRONG_ID
    if request.producer_epoch != known.producer_epoch:
        return _FENCED
    if known.state in PREPARED:
        return _CONCURRENT
    if known.state is TransactionState.ONGOING:
        return Ended(
            ErrorCode.NONE,
            known.prepared(
                committed=request.committed,
                client_version=OLDEST_VERSION,
                next_producer_id=NO_PRODUCER_ID,
                now_ms=now_ms,
            ),
        )
    if known.state is TransactionState.EMPTY:
        return _INVALID_STATE
    return _answer_retry(known, request)
