"""A shard of transactions with everything a driver would give it: a log, a clock, markers."""

from dataclasses import replace

from kbroker.machine import Outcome, Ticket
from kbroker.model import TopicPartition
from kbroker.txn import (
    TransactionRecord,
    TransactionSettings,
    TransactionShard,
    Verdict,
    WriteMarkers,
    Writer,
    decode_record,
    encode_record,
)
from kbroker.txn.states import MOVES
from kbroker.txn.transaction import Transaction
from kbroker.wire import ErrorCode, Message
from kbroker.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

TIMEOUT_MS = 60_000


class Bench:
    """One shard, its log, its clock, the markers it ordered and everything it answered."""

    def __init__(self, **settings: int) -> None:
        self.settings = replace(TransactionSettings(), **settings)
        self.now = 100.0
        self.log: list[tuple[bytes, bytes | None]] = []
        self.orders: list[WriteMarkers] = []
        self.answers: dict[Ticket, Message] = {}
        self.next_producer_id = 4000
        self._tickets = 0
        self.restart()

    @property
    def now_ms(self) -> int:
        return 1_700_000_000_000 + round(self.now * 1000)

    # --- driving -------------------------------------------------------------------

    def restart(self) -> None:
        """Lose the coordinator; another one loads the log, and orders markers anew."""
        self.orders.clear()
        self.shard = TransactionShard(self.settings)
        for key, value in self.log:
            record = decode_record(key, value)
            assert record is not None
            self.shard.replay(record)
        self.carry_out(self.shard.loaded(self.now, self.now_ms))

    def carry_out(self, outcome: Outcome[TransactionRecord, Message]) -> Message | None:
        """Write, replay, take note of effects; gives the answer, if there is one."""
        self.answers.update(outcome.replies)
        for record in outcome.records:
            self._check_move(record)
            self.log.append(encode_record(record))
            self.shard.replay(record)
        for effect in outcome.effects:
            assert isinstance(effect, WriteMarkers)
            self.orders.append(effect)
        return outcome.replies[0][1] if outcome.replies else None

    def _check_move(self, record: TransactionRecord) -> None:
        """Only what the table allows is ever written (T4)."""
        known = self.transaction(record.transactional_id)
        if known is None or record.transaction is None:
            return
        old, new = known.state, record.transaction.state
        assert old is new or MOVES.allows(old, new), f"{old.name} to {new.name}"

    def ticket(self) -> Ticket:
        self._tickets += 1
        return Ticket(self._tickets)

    def wait(self, seconds: float) -> None:
        """Let time pass, with every deadline on the way."""
        end = self.now + seconds
        while (at := self.shard.next_deadline()) is not None and at <= end:
            self.now = max(self.now, at)
            self.carry_out(self.shard.on_time(self.now, self.now_ms))
        self.now = end

    def transaction(self, name: str = "x") -> Transaction | None:
        return self.shard._transactions.get(name)

    def known(self, name: str = "x") -> Transaction:
        transaction = self.transaction(name)
        assert transaction is not None
        return transaction

    def state(self, name: str = "x") -> str:
        known = self.transaction(name)
        return "unknown" if known is None else known.state.title

    # --- requests --------------------------------------------------------------------

    def init(
        self,
        name: str = "x",
        *,
        producer_id: int = -1,
        producer_epoch: int = -1,
        timeout_ms: int = TIMEOUT_MS,
    ) -> InitProducerIdResponse:
        request = InitProducerIdRequest(
            transactional_id=name,
            transaction_timeout_ms=timeout_ms,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
        )
        new_id = self._new_id() if self.shard.init_needs_producer_id(request) else None
        answer = self.carry_out(
            self.shard.init_producer_id(request, self.ticket(), self.now_ms, new_id)
        )
        assert isinstance(answer, InitProducerIdResponse)
        return answer

    def add(self, writer: Writer, *places: TopicPartition, version: int = 2) -> ErrorCode:
        answer = self.carry_out(
            self.shard.add_partitions(
                writer, places or (place(0),), version, self.ticket(), self.now_ms
            )
        )
        assert isinstance(answer, Verdict)
        return ErrorCode(answer.error_code)

    def park(self, writer: Writer, *places: TopicPartition, patience_s: float = 0.1) -> Ticket:
        """Add partitions, and wait while the transaction before is ending."""
        ticket = self.ticket()
        self.carry_out(
            self.shard.add_partitions(writer, places, 2, ticket, self.now_ms, self.now + patience_s)
        )
        return ticket

    def told(self, ticket: Ticket) -> ErrorCode | None:
        """What somebody was told who waited, or None while it waits."""
        answer = self.answers.get(ticket)
        assert answer is None or isinstance(answer, Verdict)
        return None if answer is None else ErrorCode(answer.error_code)

    def verify(self, writer: Writer, partition: TopicPartition) -> ErrorCode:
        answer = self.carry_out(self.shard.verify_partition(writer, partition, self.ticket()))
        assert isinstance(answer, Verdict)
        return ErrorCode(answer.error_code)

    def end(self, writer: Writer, *, commit: bool = True, version: int = 2) -> EndTxnResponse:
        request = EndTxnRequest(
            transactional_id=writer.transactional_id,
            producer_id=writer.producer_id,
            producer_epoch=writer.producer_epoch,
            committed=commit,
        )
        needs = self.shard.end_needs_producer_id(request, version)
        new_id = self._new_id() if needs else None
        answer = self.carry_out(
            self.shard.end_transaction(request, version, self.ticket(), self.now_ms, new_id)
        )
        assert isinstance(answer, EndTxnResponse)
        return answer

    def _new_id(self) -> int:
        self.next_producer_id += 1
        return self.next_producer_id

    # --- shortcuts -------------------------------------------------------------------

    def writer(self, name: str = "x") -> Writer:
        """A producer that has just been initialised."""
        answer = self.init(name)
        assert answer.error_code == ErrorCode.NONE, ErrorCode(answer.error_code).name
        return Writer(name, answer.producer_id, answer.producer_epoch)

    def write_markers(self) -> list[tuple[TopicPartition, int, bool]]:
        """Carry out all orders; gives partition, epoch and decision of each marker."""
        written = []
        while self.orders:
            order = self.orders.pop(0)
            for partition in sorted(order.partitions):
                written.append((partition, order.producer_epoch, order.committed))
                self.carry_out(self.shard.marker_written(order, partition, self.now_ms))
        return written

    def at_epoch(self, epoch: int, name: str = "x") -> Writer:
        """A producer that has come to this epoch of its id."""
        writer = self.writer(name)
        moved = self.known(name)._replace(producer_epoch=epoch)
        self.carry_out(Outcome((TransactionRecord(name, moved),)))
        return writer._replace(producer_epoch=epoch)


def place(number: int, topic: str = "t") -> TopicPartition:
    return TopicPartition(topic, number)


def next_writer(writer: Writer, answer: EndTxnResponse) -> Writer:
    """The producer with what it was given for its next transaction."""
    return Writer(writer.transactional_id, answer.producer_id, answer.producer_epoch)
