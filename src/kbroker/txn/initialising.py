"""InitProducerId: which id and epoch a producer goes on with.

    who asks                               what happens to the epoch
    -------------------------------------  ------------------------------------------------------
    a new producer (no id, no epoch)       the next one; whoever had the last is fenced
    one that recovers (KIP-360), with the  the next one, remembered as its own
      epoch we know
    the same again, with the one before    none: its first request was carried out (T18)
    anybody with another epoch or id       PRODUCER_FENCED

An id without epochs left is replaced. A transaction that is still open is aborted first, and the
producer asked to come again; so is one that comes while its last transaction ends.
"""

from typing import NamedTuple

from kbroker.txn.states import PREPARED, TransactionState
from kbroker.txn.transaction import NO_PRODUCER_EPOCH, Transaction, is_exhausted
from kbroker.wire import ErrorCode
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest


class Initialised(NamedTuple):
    """What is to be written, if anything, and what the producer is told."""

    error: ErrorCode
    transaction: Transaction | None = None


def needs_producer_id(known: Transaction | None, request: InitProducerIdRequest) -> bool:
    """Whether `initialise` will want a producer id that nobody has had."""
    if known is None:
        return True
    if known.state in PREPARED or known.state is TransactionState.ONGOING:
        return False
    return known.is_epoch_exhausted and _expects(request, known.producer_epoch)


def initialise(
    known: Transaction | None,
    request: InitProducerIdRequest,
    *,
    new_producer_id: int | None,
    transaction_version: int,
    now_ms: int,
) -> Initialised:
    """Decide; ``new_producer_id`` is there if `needs_producer_id` said so."""
    timeout_ms = request.transaction_timeout_ms
    if known is None:
        assert new_producer_id is not None
        new = Transaction(new_producer_id, NO_PRODUCER_EPOCH, timeout_ms, now_ms)
        # An id that was forgotten: whatever the producer had, this is new (KIP-360).
        return Initialised(ErrorCode.NONE, new.with_epoch(0, NO_PRODUCER_EPOCH, timeout_ms, now_ms))
    if known.state in PREPARED:
        # Kafka holds a transition pending while markers are written, and asks for no more then.
        return Initialised(ErrorCode.CONCURRENT_TRANSACTIONS)
    if not _is_same_producer(known, request):
        return Initialised(ErrorCode.PRODUCER_FENCED)
    if known.state is TransactionState.ONGOING:
        if _has_epoch(request) and request.producer_epoch not in (
            known.producer_epoch,
            known.last_producer_epoch,
        ):
            # A zombie that tries to recover. Kafka aborts the transaction under way before it looks
            # at the epoch, and so fences the producer that has taken over.
            return Initialised(ErrorCode.PRODUCER_FENCED)
        fenced = known.fenced(client_version=transaction_version, now_ms=now_ms)
        return Initialised(ErrorCode.CONCURRENT_TRANSACTIONS, fenced)
    recovers = _has_epoch(request)
    if known.is_epoch_exhausted and _expects(request, known.producer_epoch):
        assert new_producer_id is not None
        last_epoch = known.producer_epoch if recovers else NO_PRODUCER_EPOCH
        rotated = known.rotated(new_producer_id, last_epoch, timeout_ms, now_ms)
        return Initialised(ErrorCode.NONE, rotated)
    if not recovers:
        bumped = known.with_epoch(known.producer_epoch + 1, NO_PRODUCER_EPOCH, timeout_ms, now_ms)
        return Initialised(ErrorCode.NONE, bumped)
    if request.producer_epoch == known.producer_epoch:
        epoch = known.producer_epoch
        return Initialised(ErrorCode.NONE, known.with_epoch(epoch + 1, epoch, timeout_ms, now_ms))
    if request.producer_epoch == known.last_producer_epoch:
        same = known.with_epoch(known.producer_epoch, known.last_producer_epoch, timeout_ms, now_ms)
        # Its retry may come again, and must find the id before a rotation.
        return Initialised(
            ErrorCode.NONE, same._replace(previous_producer_id=known.previous_producer_id)
        )
    return Initialised(ErrorCode.PRODUCER_FENCED)


def _has_epoch(request: InitProducerIdRequest) -> bool:
    return request.producer_epoch != NO_PRODUCER_EPOCH


def _expects(request: InitProducerIdRequest, producer_epoch: int) -> bool:
    """Whether the request is content with this epoch: it names it, or none at all."""
    return request.producer_epoch in (NO_PRODUCER_EPOCH, producer_epoch)


def _is_same_producer(known: Transaction, request: InitProducerIdRequest) -> bool:
    """Whether the request may come from the producer that had the id last.

    With the id before a rotation it may, if its epoch was used up: it never saw the answer.
    """
    if not _has_epoch(request) or request.producer_id == known.producer_id:
        return True
    return request.producer_id == known.previous_producer_id and is_exhausted(
        request.producer_epoch
    )
