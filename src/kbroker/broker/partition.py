"""One partition that this broker serves: its log, its leadership, and who waits for it.

The log decides about bytes; this class decides what of it may be seen. Nothing here waits: an
append moves the high watermark at once if it can (one replica, no flush asked for), otherwise the
flusher moves it later. Whoever waits registers a `Watcher` and is told of every change.

Watchers are registered BEFORE the reader looks at the partition, so that no change can fall
between the look and the wait.
"""

from typing import NamedTuple, Protocol

from kbroker.log import (
    AbortedTransaction,
    Appended,
    FoundOffset,
    PartitionLog,
    StorageError,
    Verification,
)
from kbroker.model import FileSlice, TopicPartition, Uuid
from kbroker.records import build_marker_batch

# ListOffsets asks for places by these in the place of a timestamp.
LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

READ_UNCOMMITTED = 0
READ_COMMITTED = 1

NO_OFFSET = FoundOffset(offset=-1, timestamp_ms=-1, leader_epoch=-1)

# `flush.messages` at this value asks for no flush at all (Kafka's default).
NEVER_FLUSH = 2**63 - 1


class EndOfTransaction(NamedTuple):
    """A marker: whose transaction ended how, and who says so."""

    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int
    transaction_version: int = 0


class Watcher(Protocol):
    """Someone who wants to know when a partition changes."""

    def touch(self, partition: "Partition") -> None:
        """The partition grew, its high watermark or log start moved, or it goes away."""


class FlushRequester(Protocol):
    """Who gets a partition's bytes onto the disk (see broker/flushing)."""

    def request(self, partition: "Partition") -> None:
        """Flush soon, then call `Partition.on_flushed`."""


class Partition:
    """A log and the promises made about it.

    ``high_watermark`` never exceeds ``log.log_end_offset`` and never falls, except by truncation.
    """

    __slots__ = (
        "_flusher",
        "high_watermark",
        "leader_epoch",
        "log",
        "offline",
        "topic_partition",
        "watchers",
    )

    def __init__(self, log: PartitionLog, *, leader_epoch: int, flusher: FlushRequester) -> None:
        self.log = log
        self.topic_partition: TopicPartition = log.topic_partition
        self.leader_epoch = leader_epoch
        # The only replica: all that recovery kept is committed.
        self.high_watermark = log.log_end_offset
        self.watchers: dict[Watcher, None] = {}
        self.offline = False
        self._flusher = flusher
        # Clients begin transactions here only after their coordinator was asked (T2).
        log.producers.verifies = True

    @property
    def topic_id(self) -> Uuid:
        """The id of the topic, which a topic made anew under the same name does not share."""
        return self.log.topic_id

    def append(
        self,
        records: memoryview | bytearray,
        *,
        now_ms: int,
        verification: Verification | None = None,
    ) -> Appended:
        """Append what a client sent; raises LogError or RecordsError with Kafka's code."""
        if self.offline:
            raise StorageError("the log directory failed")
        log = self.log
        appended = log.append(
            records, leader_epoch=self.leader_epoch, now_ms=now_ms, verification=verification
        )
        if not appended.duplicate:
            self._grew()
        return appended

    def append_own(self, batch: bytearray, *, now_ms: int) -> Appended:
        """Append a batch of records of internal topics, which the broker itself made."""
        if self.offline:
            raise StorageError("the log directory failed")
        appended = self.log.append_own(batch, leader_epoch=self.leader_epoch, now_ms=now_ms)
        self._grew()
        return appended

    def append_marker(self, end: EndOfTransaction, *, now_ms: int) -> Appended:
        """Append the end of a transaction; a LogError says so if it comes from the past."""
        if self.offline:
            raise StorageError("the log directory failed")
        batch = build_marker_batch(
            producer_id=end.producer_id,
            producer_epoch=end.producer_epoch,
            committed=end.committed,
            coordinator_epoch=end.coordinator_epoch,
            timestamp_ms=now_ms,
        )
        appended = self.log.append_own(
            batch,
            leader_epoch=self.leader_epoch,
            now_ms=now_ms,
            transaction_version=end.transaction_version,
        )
        self._grew()
        return appended

    def _grew(self) -> None:
        log = self.log
        if log.config.flush_messages != NEVER_FLUSH:
            # What counts is then the flushed log end (DESIGN: durability).
            if log.unflushed_messages >= log.config.flush_messages:
                self._flusher.request(self)
        else:
            self._advance(log.log_end_offset)

    def on_flushed(self) -> None:
        """The flusher is done; what is on the disk now counts."""
        if self.log.config.flush_messages != NEVER_FLUSH:
            self._advance(self.log.recovery_point)

    def on_config_changed(self) -> None:
        """Flushing may have been switched off while appends waited for it."""
        if self.log.config.flush_messages == NEVER_FLUSH:
            self._advance(self.log.log_end_offset)

    def _advance(self, high_watermark: int) -> None:
        if high_watermark <= self.high_watermark:
            return
        self.high_watermark = high_watermark
        self.log.on_high_watermark(high_watermark)
        self.notify()

    def notify(self) -> None:
        """Tell everyone who watches that something changed."""
        if self.watchers:
            # A watcher may leave while it is told.
            for watcher in tuple(self.watchers):
                watcher.touch(self)

    def check_leader_epoch(self, current_leader_epoch: int) -> str | None:
        """The name of the error that a client's epoch earns, or None (R13, KIP-320)."""
        if current_leader_epoch < 0 or current_leader_epoch == self.leader_epoch:
            return None
        if current_leader_epoch < self.leader_epoch:
            return "FENCED_LEADER_EPOCH"
        return "UNKNOWN_LEADER_EPOCH"

    @property
    def last_stable_offset(self) -> int:
        """Where readers of committed data stop (T9)."""
        return self.log.last_stable_offset(self.high_watermark)

    def readable_end(self, isolation_level: int) -> int:
        """The offset behind the last one that a consumer may see."""
        return (
            self.high_watermark if isolation_level == READ_UNCOMMITTED else self.last_stable_offset
        )

    def read(
        self, offset: int, max_bytes: int, *, up_to: int, at_least_one_batch: bool
    ) -> FileSlice | None:
        """A piece of the log below ``up_to``; raises LogError (OFFSET_OUT_OF_RANGE)."""
        return self.log.read(offset, max_bytes, up_to=up_to, at_least_one_batch=at_least_one_batch)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """The aborted transactions that a reader of this range must skip."""
        return self.log.aborted_transactions(start_offset, end_offset)

    def find_offset(self, timestamp: int, isolation_level: int | None) -> FoundOffset:
        """What ListOffsets answers for ``timestamp``; the first two take no time.

        ``isolation_level`` is None for a replica, which sees up to the log end.
        """
        log = self.log
        replica = isolation_level is None
        end = log.log_end_offset if replica else self.readable_end(isolation_level or 0)
        if timestamp == LATEST:
            return FoundOffset(offset=end, timestamp_ms=-1, leader_epoch=self.leader_epoch)
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            start = log.log_start_offset
            epoch = log.leader_epochs.epoch_for(start)
            return FoundOffset(start, -1, self.leader_epoch if epoch < 0 else epoch)
        if timestamp == MAX_TIMESTAMP:
            return log.max_timestamp_offset() or NO_OFFSET
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            return NO_OFFSET
        return log.offset_for_timestamp(timestamp, up_to=end) or NO_OFFSET

    def end_offset_for_epoch(self, leader_epoch: int) -> tuple[int, int]:
        """The largest epoch up to ``leader_epoch`` and where it ended; (-1, -1) if unknown (R7)."""
        if leader_epoch == self.leader_epoch:
            # Also before its first record, when the log has not heard of it yet.
            return leader_epoch, self.log.log_end_offset
        return self.log.end_offset_for_epoch(leader_epoch)

    def delete_records(self, offset: int) -> int:
        """Forget all before ``offset`` (-1: all that is committed); gives the new log start."""
        if offset == -1:
            offset = self.high_watermark
        self.log.advance_log_start(offset, self.high_watermark)
        self.notify()
        return self.log.log_start_offset
