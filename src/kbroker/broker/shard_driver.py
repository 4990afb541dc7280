"""Drives one group shard: its requests, its records, its replies and its time.

A shard decides and never waits. This class appends the records of an outcome to the shard's
partition, lets the shard replay them, and lets replies go when the records before them are
committed; the three steps run without an await, so the shard never sees a half of them.

* No reply leaves before the records of its outcome are committed, nor before those of the outcomes
  before it: it may have been decided on state that is not committed yet.
* Replies are released by the partition (its high watermark) or by the one who decided, never by the
  asker: a client that disconnects does not take others' answers with it.
* If the append fails, nobody can say what the shard should be: it is dropped, those who wait are
  told NOT_COORDINATOR, and the next request loads it anew.
"""

import contextlib
import os
from collections import deque
from collections.abc import Callable, Collection, Iterator
from enum import Enum
from typing import Generic, TypeVar, cast

import trio

from kbroker.broker.clock import Clock
from kbroker.broker.partition import Partition
from kbroker.broker.requests import Later
from kbroker.groups import GroupRecord, GroupShard, decode_record, encode_record
from kbroker.log import LogError
from kbroker.machine import Outcome, Ticket
from kbroker.records import (
    Record,
    RecordsError,
    TruncatedRecords,
    build_batch,
    iterate_records,
    scan_batches,
)
from kbroker.telemetry.log_lines import get_logger
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.errors import ProtocolError
from kbroker.wire.message import Message

log = get_logger("groups")

R = TypeVar("R")
Operation = Callable[[GroupShard, Ticket], Outcome[GroupRecord, Message]]

# How much of the log is read at once while a shard is loaded.
_LOAD_BYTES = 1 << 20


class ShardState(Enum):
    """Where a shard is in its life."""

    LOADING = "loading"
    ACTIVE = "active"
    GONE = "gone"


class Waiting(Later[R], Generic[R]):
    """A request whose answer is not there yet."""

    __slots__ = ("_answer", "_done")

    def __init__(self) -> None:
        self._done = trio.Event()
        self._answer: R | None = None

    def set(self, answer: R) -> None:
        """The answer is there; whoever waits may go on."""
        self._answer = answer
        self._done.set()

    async def finish(self) -> R:
        """Wait for the answer."""
        await self._done.wait()
        return cast(R, self._answer)


class ShardDriver:
    """One shard, its partition, and the requests that wait in it."""

    def __init__(
        self,
        partition: Partition,
        shard: GroupShard,
        clock: Clock,
        on_deadline: Callable[[float], None],
    ) -> None:
        self.partition = partition
        self.shard = shard
        self.state = ShardState.LOADING
        self._clock = clock
        self._on_deadline = on_deadline
        self._tickets = 0
        # Requests that are parked in the shard, and what they are told if it goes away.
        self._parked: dict[Ticket, tuple[Waiting[Message], Callable[[ErrorCode], Message]]] = {}
        # Replies that wait for the high watermark, in the order of their offsets.
        self._uncommitted: deque[tuple[int, Ticket, Message]] = deque()
        self._appended_end = partition.log.log_end_offset

    # Loading.

    async def load(self) -> None:
        """Replay the partition; nobody is answered before that (G1)."""
        if self.partition.log.log_end_offset > self.partition.log.log_start_offset:
            try:
                await trio.to_thread.run_sync(self._replay_log)
            except (LogError, RecordsError) as error:
                log.error(
                    "a group shard cannot be loaded",
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
        self._carry_out(self.shard.loaded(self._clock.now(), self._clock.timestamp_ms()))

    def _replay_log(self) -> None:
        """Runs in a thread; nobody else has the shard yet, and the log only grows by us."""
        for key, value in self._stored():
            try:
                record = None if key is None else decode_record(key, value)
            except ProtocolError as error:
                # Its CRC is right, so somebody wrote it so. One record must not cost all groups.
                log.error(
                    "a group record makes no sense and is left out",
                    partition=self.partition.topic_partition,
                    reason=str(error),
                )
                continue
            if record is None:
                log.warning("an unknown group record", partition=self.partition.topic_partition)
            else:
                self.shard.replay(record)

    def _stored(self) -> Iterator[tuple[bytes | None, bytes | None]]:
        source = self.partition.log
        offset, end = source.log_start_offset, source.log_end_offset
        while offset < end:
            piece = source.read(offset, _LOAD_BYTES, up_to=end, at_least_one_batch=True)
            if piece is None:
                return
            data = os.pread(piece.file_descriptor, piece.length, piece.position)
            # The last batch may be cut off; the next piece begins with it.
            with contextlib.suppress(TruncatedRecords):
                for position, header in scan_batches(data):
                    if not header.is_control:
                        for record in iterate_records(data, header, position):
                            yield record.key, record.value
                    offset = header.next_offset

    # Serving.

    def perform(
        self, operation: Operation, refuse: Callable[[ErrorCode], Message]
    ) -> Message | Waiting[Message]:
        """Let the shard decide on one request; its answer, now or later.

        ``refuse`` makes the answer for a shard that goes away meanwhile.
        """
        self._tickets += 1
        ticket = Ticket(self._tickets)
        waiting: Waiting[Message] = Waiting()
        self._parked[ticket] = (waiting, refuse)
        self._carry_out(operation(self.shard, ticket))
        if waiting._done.is_set():
            return cast(Message, waiting._answer)
        return waiting

    def on_time(self) -> None:
        """Let the shard do what is due."""
        if self.state is ShardState.ACTIVE:
            outcome = self.shard.on_time(self._clock.now(), self._clock.timestamp_ms())
            self._carry_out(outcome)

    def on_topics_changed(self, deleted: Collection[str]) -> None:
        """Tell the shard that there are other topics or partitions now."""
        if self.state is ShardState.ACTIVE and deleted:
            self._carry_out(self.shard.on_topics_deleted(deleted))
        if self.state is ShardState.ACTIVE:
            now, now_ms = self._clock.now(), self._clock.timestamp_ms()
            self._carry_out(self.shard.on_topics_changed(now, now_ms))

    def next_deadline(self) -> float | None:
        """When the shard wants to be called, or None."""
        return self.shard.next_deadline() if self.state is ShardState.ACTIVE else None

    def _carry_out(self, outcome: Outcome[GroupRecord, Message]) -> None:
        if outcome.records:
            try:
                self._append(outcome.records)
            except (LogError, RecordsError) as error:
                log.error(
                    "group records cannot be written",
                    partition=self.partition.topic_partition,
                    reason=str(error),
                )
                self.drop()
                return
            for record in outcome.records:
                self.shard.replay(record)
        if outcome.replies:
            committed = self.partition.high_watermark >= self._appended_end
            for ticket, response in outcome.replies:
                if committed and not self._uncommitted:
                    self._answer(ticket, response)
                else:
                    self._uncommitted.append((self._appended_end, ticket, response))
        deadline = self.shard.next_deadline()
        if deadline is not None:
            self._on_deadline(deadline)

    def _append(self, records: tuple[GroupRecord, ...]) -> None:
        now_ms = self._clock.timestamp_ms()
        batch = build_batch(
            [
                Record(number, now_ms, *encode_record(record))
                for number, record in enumerate(records)
            ]
        )
        appended = self.partition.append_own(batch, now_ms=now_ms)
        self._appended_end = appended.last_offset + 1

    def touch(self, partition: Partition) -> None:
        """The high watermark moved: let go what waited for it."""
        high_watermark = partition.high_watermark
        while self._uncommitted and self._uncommitted[0][0] <= high_watermark:
            _, ticket, response = self._uncommitted.popleft()
            self._answer(ticket, response)
        if partition.offline:
            self.drop()

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
