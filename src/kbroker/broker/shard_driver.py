"""Drives one shard, of groups or of transactions: its requests, records, replies and time.

A shard decides and never waits. This class appends the records of an outcome to the shard's
partition, lets the shard replay them, and lets replies go when the records before them are
committed; the three steps run without an await, so the shard never sees a half of them.

* No reply leaves and no effect begins before the records of its outcome are committed, nor before
  those of the outcomes before it: it may have been decided on state that is not committed yet.
* Replies are released by the partition (its high watermark) or by the one who decided, never by the
  asker: a client that disconnects does not take others' answers with it.
* If the append fails, nobody can say what the shard should be: it is dropped, those who wait are
  told NOT_COORDINATOR, and the next request loads it anew.
* Records of a transaction (offsets that a producer commits) go into a transactional batch, and a
  marker tells the shard what became of them. Both come in the order of the log, live and loaded.
"""

from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

import trio

from kbroker.broker.clock import Clock
from kbroker.broker.partition import EndOfTransaction, Partition
from kbroker.broker.requests import Later
from kbroker.broker.stored_records import stored_records
from kbroker.log import Appended, InvalidProducerEpoch, LogError
from kbroker.machine import Outcome, Ticket
from kbroker.records import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    Marker,
    Record,
    RecordsError,
    build_own_batch,
)
from kbroker.telemetry.log_lines import get_logger
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.errors import ProtocolError
from kbroker.wire.message import Message

log = get_logger("shards")

R = TypeVar("R")
StoredT = TypeVar("StoredT")
ShardT = TypeVar("ShardT")


class Shard(Protocol[StoredT]):
    """A state machine whose durable state is the records of one partition.

    The ``replay`` methods alone change that state. The driver calls them in the order of the log,
    for records that were just appended and, before `loaded`, for all that the partition holds.
    """

    def replay(self, record: StoredT) -> None:
        """Take over a record that counts from now on."""

    def replay_pending(self, record: StoredT, producer_id: int) -> None:
        """Take over a record that a producer wrote inside its transaction.

        It counts if and when `replay_marker` says that this producer's transaction is committed.
        """

    def replay_marker(self, producer_id: int, producer_epoch: int, committed: bool) -> None:
        """The transaction of a producer ended: what it had pending counts now, or never.

        There may be nothing pending: a marker is written again if nobody knows whether it was.
        """

    def loaded(self, now: float, now_ms: int) -> Outcome[StoredT, Message]:
        """All records are replayed; begin to serve."""

    def on_time(self, now: float, now_ms: int) -> Outcome[StoredT, Message]:
        """Do what is due."""

    def next_deadline(self) -> float | None:
        """When to call `on_time`, or None."""


class RecordFormat(NamedTuple, Generic[StoredT]):
    """How the records of a kind of shard become keys and values, and what they are called.

    ``decode`` gives None for a record of a type that is not known here, and raises ProtocolError
    for bytes that are no record.
    """

    name: str
    encode: Callable[[StoredT], tuple[bytes, bytes | None]]
    decode: Callable[[bytes, bytes | None], StoredT | None]


class Producer(NamedTuple):
    """Who writes inside a transaction."""

    producer_id: int
    producer_epoch: int


class ShardState(Enum):
    """Where a shard is in its life."""

    LOADING = "loading"
    ACTIVE = "active"
    GONE = "gone"


class Waiting(Later[R], Generic[R]):
    """A request whose answer is not there yet."""

    __slots__ = ("_done", "_then", "answer")

    def __init__(self) -> None:
        self.answer: R | None = None
        self._done: trio.Event | None = None  # made by who waits; most answers come at once
        self._then: Callable[[R], None] | None = None

    def set(self, answer: R) -> None:
        """The answer is there; whoever waits may go on."""
        self.answer = answer
        if self._done is not None:
            self._done.set()
        if self._then is not None:
            self._then(answer)

    def then(self, go_on: Callable[[R], None]) -> None:
        """Call ``go_on`` with the answer as soon as it is there, before anything else happens.

        For what must be done in the order of the answers, whoever waits for them.
        """
        assert self._then is None
        self._then = go_on

    async def finish(self) -> R:
        """Wait for the answer."""
        if self.answer is None:
            self._done = trio.Event()
            await self._done.wait()
        return cast(R, self.answer)


class _Uncommitted(NamedTuple):
    """What may happen when the high watermark has reached ``end_offset``."""

    end_offset: int
    replies: Sequence[tuple[Ticket, Message]]
    effects: Sequence[object]


def no_effects(effects: Sequence[object]) -> None:
    """For shards that order nothing."""
    raise AssertionError(f"a shard without effects ordered {effects}")


class ShardDriver(Generic[ShardT, StoredT]):
    """One shard, its partition, and the requests that wait in it."""

    def __init__(
        self,
        partition: Partition,
        shard: ShardT,
        record_format: RecordFormat[StoredT],
        clock: Clock,
        on_deadline: Callable[[float], None],
        on_effects: Callable[[Sequence[object]], None] = no_effects,
    ) -> None:
        self.partition = partition
        self.shard = shard
        self.state = ShardState.LOADING
        # The same again, as the driver sees it; no type can say that a ShardT is a Shard[StoredT].
        self._machine = cast(Shard[StoredT], shard)
        self._format = record_format
        self._clock = clock
        self._on_deadline = on_deadline
        self._on_effects = on_effects
        self._tickets = 0
        # Requests that are parked in the shard, and what they are told if it goes away.
        self._parked: dict[Ticket, tuple[Waiting[Message], Callable[[ErrorCode], Message]]] = {}
        # What waits for the high watermark, in the order of its offsets.
        self._uncommitted: deque[_Uncommitted] = deque()
        self._appended_end = partition.log.log_end_offset

    # Loading.

    async def load(self) -> None:
        """Replay the partition; nobody is answered before that (G1)."""
        if self.partition.log.log_end_offset > self.partition.log.log_start_offset:
            try:
                await trio.to_thread.run_sync(self._replay_log)
            except (LogError, RecordsError) as error:
                log.error(
                    f"a {self._format.name} shard cannot be loaded",
                    partition=self.partition.topic_partition,
                    reason=str(error),
                )
                self.drop()
                return
        self.activate()

    def activate(self) -> None:
        """Serve, from now on."""
        if self.state is ShardState.GONE:
            return
        self.state = ShardState.ACTIVE
        self.partition.watchers[self] = None
        self._carry_out(self._machine.loaded(self._clock.now(), self._clock.timestamp_ms()))

    def _replay_log(self) -> None:
        """Runs in a thread; nobody else has the shard yet, and the log only grows by us."""
        for header, content in stored_records(self.partition.log):
            if isinstance(content, Marker):
                self._machine.replay_marker(
                    header.producer_id, header.producer_epoch, content.committed
                )
            elif (record := self._decode(content)) is None:
                continue
            elif header.is_transactional:
                self._machine.replay_pending(record, header.producer_id)
            else:
                self._machine.replay(record)

    def _decode(self, stored: Record) -> StoredT | None:
        try:
            record = None if stored.key is None else self._format.decode(stored.key, stored.value)
        except ProtocolError as error:
            # Its CRC is right, so somebody wrote it so. One record must not cost all others.
            log.error(
                f"a {self._format.name} record makes no sense and is left out",
                partition=self.partition.topic_partition,
                reason=str(error),
            )
            return None
        if record is None:
            log.warning(
                f"an unknown {self._format.name} record", partition=self.partition.topic_partition
            )
        return record

    # Serving.

    def perform(
        self,
        operation: Callable[[ShardT, Ticket], Outcome[StoredT, Message]],
        refuse: Callable[[ErrorCode], Message],
        producer: Producer | None = None,
    ) -> Message | Waiting[Message]:
        """Let the shard decide on one request; its answer, now or later.

        ``refuse`` makes the answer for a shard that goes away meanwhile. With a ``producer``, the
        records become part of its transaction; if it is fenced here, the answer is a refusal with
        INVALID_PRODUCER_EPOCH and the shard keeps what it has.
        """
        self._tickets += 1
        ticket = Ticket(self._tickets)
        waiting: Waiting[Message] = Waiting()
        self._parked[ticket] = (waiting, refuse)
        try:
            self._carry_out(operation(self.shard, ticket), producer)
        except InvalidProducerEpoch:
            self._answer(ticket, refuse(ErrorCode.INVALID_PRODUCER_EPOCH))
        return waiting if waiting.answer is None else waiting.answer

    def tell(self, event: Callable[[ShardT], Outcome[StoredT, Message]]) -> None:
        """Tell the shard of something that happened; a shard that does not serve need not know."""
        if self.state is ShardState.ACTIVE:
            self._carry_out(event(self.shard))

    def on_time(self) -> None:
        """Let the shard do what is due."""
        if self.state is ShardState.ACTIVE:
            outcome = self._machine.on_time(self._clock.now(), self._clock.timestamp_ms())
            self._carry_out(outcome)

    def next_deadline(self) -> float | None:
        """When the shard wants to be called, or None."""
        return self._machine.next_deadline() if self.state is ShardState.ACTIVE else None

    def write_marker(self, end: EndOfTransaction) -> Appended:
        """Append the end of a producer's transaction, and let the shard know.

        Only while the shard serves. Raises LogError if the marker comes from the past or cannot be
        written. It counts for readers when the high watermark has passed it, like any record.
        """
        assert self.state is ShardState.ACTIVE, "a marker while loading might be replayed or not"
        appended = self.partition.append_marker(end, now_ms=self._clock.timestamp_ms())
        self._appended_end = appended.last_offset + 1
        self._machine.replay_marker(end.producer_id, end.producer_epoch, end.committed)
        return appended

    def _carry_out(
        self, outcome: Outcome[StoredT, Message], producer: Producer | None = None
    ) -> None:
        if outcome.records:
            try:
                self._append(outcome.records, producer)
            except InvalidProducerEpoch:
                raise
            except (LogError, RecordsError) as error:
                log.error(
                    f"{self._format.name} records cannot be written",
                    partition=self.partition.topic_partition,
                    reason=str(error),
                )
                self.drop()
                return
            for record in outcome.records:
                if producer is None:
                    self._machine.replay(record)
                else:
                    self._machine.replay_pending(record, producer.producer_id)
        if outcome.replies or outcome.effects:
            step = _Uncommitted(self._appended_end, outcome.replies, outcome.effects)
            if self.partition.high_watermark >= self._appended_end and not self._uncommitted:
                self._release(step)
            else:
                self._uncommitted.append(step)
        deadline = self._machine.next_deadline()
        if deadline is not None:
            self._on_deadline(deadline)

    def _append(self, records: tuple[StoredT, ...], producer: Producer | None) -> None:
        now_ms = self._clock.timestamp_ms()
        encode = self._format.encode
        batch = build_own_batch(
            [encode(record) for record in records],
            timestamp_ms=now_ms,
            producer_id=NO_PRODUCER_ID if producer is None else producer.producer_id,
            producer_epoch=NO_PRODUCER_EPOCH if producer is None else producer.producer_epoch,
            is_transactional=producer is not None,
        )
        appended = self.partition.append_own(batch, now_ms=now_ms)
        self._appended_end = appended.last_offset + 1

    def touch(self, partition: Partition) -> None:
        """The high watermark moved: let go what waited for it."""
        high_watermark = partition.high_watermark
        while self._uncommitted and self._uncommitted[0].end_offset <= high_watermark:
            self._release(self._uncommitted.popleft())
        if partition.offline:
            self.drop()

    def _release(self, step: _Uncommitted) -> None:
        if step.effects:
            self._on_effects(step.effects)
        for ticket, response in step.replies:
            self._answer(ticket, response)

    def _answer(self, ticket: Ticket, response: Message) -> None:
        waiting, _ = self._parked.pop(ticket)
        waiting.set(response)

    def drop(self) -> None:
        """Give the shard up; whoever waits is told to look for the coordinator again."""
        if self.state is ShardState.GONE:
            return
        self.state = ShardState.GONE
        self.partition.watchers.pop(self, None)
        self._uncommitted.clear()
        parked, self._parked = self._parked, {}
        for waiting, refuse in parked.values():
            waiting.set(refuse(ErrorCode.NOT_COORDINATOR))
