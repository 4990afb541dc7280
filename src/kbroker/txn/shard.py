"""All transactional ids of one partition of __transaction_state.

A shard decides who may write in which transaction, and how transactions end. It does not see the
records of a transaction: partitions are added to it before they are written to, and get a marker
after its end is decided.

How the shell drives it:

    outcome = shard.end_transaction(request, ticket, now_ms, ...)
    append outcome.records, then shard.replay(record) for each, all before the next call
    when they are committed: carry out outcome.effects (WriteMarkers), send outcome.replies
    shard.marker_written(...) for each partition that has its marker
    call on_time when next_deadline says so

Steps of a commit, each durable before the next (T4):

    PrepareCommit -> a marker on every partition -> CompleteCommit

After a load the second step is done again for all that were prepared (T5). If an append fails the
shell drops the shard and loads it anew, so an epoch that could not be written is not burnt (T7).
"""

from collections.abc import Collection
from typing import Final, NamedTuple, TypeAlias

from kbroker.machine import Deadlines, Outcome, Ticket
from kbroker.model import TopicPartition
from kbroker.txn.ending import end
from kbroker.txn.ending import needs_producer_id as ending_needs_producer_id
from kbroker.txn.initialising import initialise
from kbroker.txn.initialising import needs_producer_id as initialising_needs_producer_id
from kbroker.txn.listing import TransactionFilter, describe
from kbroker.txn.markers import WriteMarkers
from kbroker.txn.settings import TransactionSettings
from kbroker.txn.states import AT_REST, MOVES, PREPARED, TransactionState
from kbroker.txn.transaction import NO_PRODUCER_EPOCH, Transaction
from kbroker.txn.transaction_records import TransactionRecord, value_version
from kbroker.wire import ErrorCode, Message
from kbroker.wire.messages.add_offsets_to_txn import AddOffsetsToTxnResponse
from kbroker.wire.messages.describe_transactions import TransactionState as Described
from kbroker.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kbroker.wire.messages.list_transactions import TransactionState as Listed

TransactionOutcome: TypeAlias = Outcome[TransactionRecord, Message]

# Whether a partition may be written to: an error code and nothing else, which is what
# AddOffsetsToTxn answers too.
Verdict: TypeAlias = AddOffsetsToTxnResponse

# So many ids are forgotten at once at the most; the rest is found the next time around.
_MOST_TOMBSTONES: Final = 1_000


class Writer(NamedTuple):
    """Who wants to write in a transaction: its transactional id and what it was given for it."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


class _Parked(NamedTuple):
    """A writer that waits for the end of the transaction before its own."""

    ticket: Ticket
    writer: Writer
    partitions: Collection[TopicPartition]
    client_version: int


class TransactionShard:
    """The transactional ids of one partition, and the transactions that are ending."""

    def __init__(self, settings: TransactionSettings) -> None:
        self._settings = settings
        self._transactions: dict[str, Transaction] = {}
        # Those that may run out of time.
        self._ongoing: set[str] = set()
        # The partitions of prepared transactions that have no marker yet.
        self._unmarked: dict[str, set[TopicPartition]] = {}
        # Who waits until they have them all, by transactional id, and until when.
        self._parked: dict[str, list[_Parked]] = {}
        self._patience: Deadlines[Ticket] = Deadlines()
        self._next_abort = 0.0
        self._next_expiration = 0.0

    def configure(self, settings: TransactionSettings) -> None:
        """Go on with other settings, because a config or the feature changed."""
        self._settings = settings

    def __len__(self) -> int:
        return len(self._transactions)

    # --- producers ---------------------------------------------------------------

    def init_needs_producer_id(self, request: InitProducerIdRequest) -> bool:
        """Whether `init_producer_id` will want an id that nobody has had."""
        return initialising_needs_producer_id(
            self._transactions.get(request.transactional_id or ""), request
        )

    def init_producer_id(
        self,
        request: InitProducerIdRequest,
        ticket: Ticket,
        now_ms: int,
        new_producer_id: int | None = None,
    ) -> TransactionOutcome:
        """InitProducerId with a transactional id."""
        transactional_id = request.transactional_id
        assert transactional_id, "others need no coordinator"
        if not 0 < request.transaction_timeout_ms <= self._settings.max_timeout_ms:
            return _init_refused(ticket, ErrorCode.INVALID_TRANSACTION_TIMEOUT)
        decided = initialise(
            self._transactions.get(transactional_id),
            request,
            new_producer_id=new_producer_id,
            transaction_version=self._settings.transaction_version,
            now_ms=now_ms,
        )
        transaction = decided.transaction
        if decided.error is not ErrorCode.NONE:
            refusal = _init_refused(ticket, decided.error)
            if transaction is None:
                return refusal
            return self._prepared(transactional_id, transaction, now_ms) + refusal
        assert transaction is not None
        answer = InitProducerIdResponse(
            producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch
        )
        return Outcome((self._record(transactional_id, transaction),), ((ticket, answer),))

    # --- partitions --------------------------------------------------------------

    def add_partitions(
        self,
        writer: Writer,
        partitions: Collection[TopicPartition],
        client_version: int,
        ticket: Ticket,
        now_ms: int,
        wait_until: float | None = None,
    ) -> TransactionOutcome:
        """Take partitions into a transaction, which begins with the first of them.

        AddPartitionsToTxn and AddOffsetsToTxn of version 1, and the first write to a partition in
        version 2. Nobody may write before the `Verdict` is there. A fast producer comes while the
        markers of its last transaction are being written; it may wait for them.
        """
        known = self._transactions.get(writer.transactional_id)
        if known is not None and known.state in PREPARED:
            # Asked first: the writer may have an id that is ours only when the markers are
            # written (KAFKA-18660).
            if wait_until is None:
                return _verdict(ticket, ErrorCode.CONCURRENT_TRANSACTIONS)
            parked = _Parked(ticket, writer, partitions, client_version)
            self._parked.setdefault(writer.transactional_id, []).append(parked)
            self._patience.set(ticket, wait_until)
            return Outcome()
        added, error = _added(known, writer, partitions, client_version, now_ms)
        if added is None:
            return _verdict(ticket, error)
        return Outcome((self._record(writer.transactional_id, added),), ((ticket, Verdict()),))

    def verify_partition(
        self, writer: Writer, partition: TopicPartition, ticket: Ticket
    ) -> TransactionOutcome:
        """Whether a partition is in a transaction already, which version 1 asks for (T2)."""
        known = self._transactions.get(writer.transactional_id)
        error = _check(known, writer)
        if known is not None and error is ErrorCode.NONE:
            if known.state in PREPARED:
                error = ErrorCode.CONCURRENT_TRANSACTIONS
            elif partition not in known.partitions:
                error = ErrorCode.TRANSACTION_ABORTABLE
        return _verdict(ticket, error)

    # --- ending ------------------------------------------------------------------

    def end_needs_producer_id(self, request: EndTxnRequest, client_version: int) -> bool:
        """Whether `end_transaction` will want an id that nobody has had."""
        known = self._transactions.get(request.transactional_id)
        return ending_needs_producer_id(known, request, client_version)

    def end_transaction(
        self,
        request: EndTxnRequest,
        client_version: int,
        ticket: Ticket,
        now_ms: int,
        new_producer_id: int | None = None,
    ) -> TransactionOutcome:
        """EndTxn; answered when the decision is durable, whatever becomes of the markers."""
        known = self._transactions.get(request.transactional_id)
        decided = end(
            known,
            request,
            client_version=client_version,
            new_producer_id=new_producer_id,
            now_ms=now_ms,
        )
        if decided.error is not ErrorCode.NONE:
            return Outcome(replies=((ticket, EndTxnResponse(error_code=decided.error)),))
        if decided.transaction is None:
            assert known is not None
            return Outcome(replies=((ticket, _ended(known)),))
        # The producer goes on with what it will have when the markers are written.
        answer = _ended(decided.transaction.completed(now_ms))
        prepared = self._prepared(request.transactional_id, decided.transaction, now_ms)
        return Outcome(prepared.records, ((ticket, answer),), prepared.effects)

    def _prepared(
        self, transactional_id: str, transaction: Transaction, now_ms: int
    ) -> TransactionOutcome:
        """Write down a decision and order its markers; without partitions it is complete."""
        record = self._record(transactional_id, transaction)
        if not transaction.partitions:
            complete = self._record(transactional_id, transaction.completed(now_ms))
            return Outcome((record, complete))
        return Outcome((record,), effects=(_markers_of(transactional_id, transaction),))

    def marker_written(
        self, order: WriteMarkers, partition: TopicPartition, now_ms: int
    ) -> TransactionOutcome:
        """A partition has its marker, or is gone for good; with the last one all is complete."""
        transactional_id = order.transactional_id
        known = self._transactions.get(transactional_id)
        if (
            known is None
            or known.state not in PREPARED
            or (known.producer_id, known.producer_epoch)
            != (order.producer_id, order.producer_epoch)
        ):
            return Outcome()  # an order from before, written a second time
        unmarked = self._unmarked[transactional_id]
        unmarked.discard(partition)
        if unmarked:
            return Outcome()
        return self._completed(transactional_id, known.completed(now_ms), now_ms)

    def _completed(
        self, transactional_id: str, complete: Transaction, now_ms: int
    ) -> TransactionOutcome:
        """Write down the end of a transaction, and let in who waited for it, in their order."""
        records = [self._record(transactional_id, complete)]
        replies = []
        latest = complete
        for parked in self._parked.pop(transactional_id, ()):
            self._patience.cancel(parked.ticket)
            added, error = _added(
                latest, parked.writer, parked.partitions, parked.client_version, now_ms
            )
            if added is not None:
                latest = added
                records.append(self._record(transactional_id, added))
            replies.append((parked.ticket, Verdict(error_code=error)))
        return Outcome(tuple(records), tuple(replies))

    # --- what there is -----------------------------------------------------------

    def describe(self, transactional_id: str) -> Described:
        """DescribeTransactions for one id; partitions that have their marker are left out."""
        known = self._transactions.get(transactional_id)
        unmarked = self._unmarked.get(transactional_id)
        if known is not None and unmarked is not None:
            known = known._replace(partitions=frozenset(unmarked))
        return describe(transactional_id, known)

    def list(self, wanted: TransactionFilter, now_ms: int) -> list[Listed]:
        """ListTransactions."""
        return wanted.listed(self._transactions.items(), now_ms)

    # --- time --------------------------------------------------------------------

    def next_deadline(self) -> float | None:
        """When to call `on_time`, or None if nothing is waited for."""
        deadlines = (
            self._next_expiration if self._transactions else None,
            self._next_abort if self._ongoing else None,
            self._patience.next_deadline(),
        )
        return min((each for each in deadlines if each is not None), default=None)

    def on_time(self, now: float, now_ms: int) -> TransactionOutcome:
        """Abort what has run out of time, and forget ids that nobody uses."""
        outcome = self._let_go(now)
        if self._next_abort <= now:
            self._next_abort = now + self._settings.abort_interval_ms / 1000
            outcome += self._abort_timed_out(now_ms)
        if self._next_expiration <= now:
            self._next_expiration = now + self._settings.expire_interval_ms / 1000
            outcome += self._forget_unused(now, now_ms)
        return outcome

    def _let_go(self, now: float) -> TransactionOutcome:
        """Those who have waited long enough try again."""
        due = set(self._patience.due(now))
        if not due:
            return Outcome()
        for transactional_id, waiting in list(self._parked.items()):
            left = [parked for parked in waiting if parked.ticket not in due]
            if left:
                self._parked[transactional_id] = left
            else:
                del self._parked[transactional_id]
        verdict = Verdict(error_code=ErrorCode.CONCURRENT_TRANSACTIONS)
        return Outcome(replies=tuple((ticket, verdict) for ticket in sorted(due)))

    def _abort_timed_out(self, now_ms: int) -> TransactionOutcome:
        outcome: TransactionOutcome = Outcome()
        version = self._settings.transaction_version
        for transactional_id in sorted(self._ongoing):
            known = self._transactions[transactional_id]
            if known.has_timed_out(now_ms):
                fenced = known.fenced(client_version=version, now_ms=now_ms)
                outcome += self._prepared(transactional_id, fenced, now_ms)
        return outcome

    def _forget_unused(self, now: float, now_ms: int) -> TransactionOutcome:
        oldest_ms = now_ms - self._settings.id_expiration_ms
        tombstones = []
        for transactional_id, known in self._transactions.items():
            if known.state in AT_REST and known.update_timestamp_ms <= oldest_ms:
                MOVES.move(known.state, TransactionState.DEAD)
                tombstones.append(TransactionRecord(transactional_id, None))
                if len(tombstones) == _MOST_TOMBSTONES:
                    self._next_expiration = now
                    break
        return Outcome(tuple(tombstones))

    # --- what is durable ---------------------------------------------------------

    def replay(self, record: TransactionRecord) -> None:
        """Take over one record, from the log or just written; it alone changes what is durable."""
        transactional_id = record.transactional_id
        transaction = record.transaction
        self._ongoing.discard(transactional_id)
        self._unmarked.pop(transactional_id, None)
        if transaction is None:
            self._transactions.pop(transactional_id, None)
            return
        self._transactions[transactional_id] = transaction
        if transaction.state is TransactionState.ONGOING:
            self._ongoing.add(transactional_id)
        elif transaction.state in PREPARED:
            self._unmarked[transactional_id] = set(transaction.partitions)

    def replay_pending(self, record: TransactionRecord, producer_id: int) -> None:  # noqa: ARG002
        """Nobody writes to this topic inside a transaction; what stands there counts."""
        self.replay(record)

    def replay_marker(self, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """Nor are there markers."""

    def loaded(self, now: float, now_ms: int) -> TransactionOutcome:
        """Begin to serve, once all records were replayed: end what was decided (T5)."""
        self._next_abort = now + self._settings.abort_interval_ms / 1000
        self._next_expiration = now + self._settings.expire_interval_ms / 1000
        outcome: TransactionOutcome = Outcome()
        for transactional_id in sorted(self._unmarked):
            known = self._transactions[transactional_id]
            if known.partitions:
                outcome += Outcome(effects=(_markers_of(transactional_id, known),))
            else:
                record = self._record(transactional_id, known.completed(now_ms))
                outcome += Outcome((record,))
        return outcome

    def _record(self, transactional_id: str, transaction: Transaction) -> TransactionRecord:
        version = value_version(self._settings.transaction_version)
        return TransactionRecord(transactional_id, transaction, version)


def _check(known: Transaction | None, writer: Writer) -> ErrorCode:
    """Whether a transactional id belongs to the writer as far as it goes, or why not."""
    if known is None or known.producer_id != writer.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if known.producer_epoch != writer.producer_epoch:
        return ErrorCode.PRODUCER_FENCED
    return ErrorCode.NONE


def _added(
    known: Transaction | None,
    writer: Writer,
    partitions: Collection[TopicPartition],
    client_version: int,
    now_ms: int,
) -> tuple[Transaction | None, ErrorCode]:
    """The transaction with more partitions, if it is not as it should be, and the error."""
    error = _check(known, writer)
    if known is None or error is not ErrorCode.NONE:
        return None, error
    if known.state is TransactionState.ONGOING and known.partitions.issuperset(partitions):
        return None, ErrorCode.NONE
    return known.with_partitions(partitions, client_version, now_ms), ErrorCode.NONE


def _markers_of(transactional_id: str, transaction: Transaction) -> WriteMarkers:
    return WriteMarkers(
        transactional_id,
        transaction.producer_id,
        transaction.producer_epoch,
        transaction.state is TransactionState.PREPARE_COMMIT,
        transaction.partitions,
        transaction.client_version,
    )


def _ended(transaction: Transaction) -> EndTxnResponse:
    return EndTxnResponse(
        producer_id=transaction.producer_id, producer_epoch=transaction.producer_epoch
    )


def _init_refused(ticket: Ticket, error: ErrorCode) -> TransactionOutcome:
    answer = InitProducerIdResponse(error_code=error, producer_epoch=NO_PRODUCER_EPOCH)
    return Outcome(replies=((ticket, answer),))


def _verdict(ticket: Ticket, error: ErrorCode) -> TransactionOutcome:
    return Outcome(replies=((ticket, Verdict(error_code=error)),))
