"""The log against a list: whatever is done to it, it holds what the list holds.

The list remembers batches; the producers are those that a full replay of it gives (P8), also
after a restart from snapshots, and the end of read_committed is found by going through it.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kbroker.log.producer_state import ProducerState
from kbroker.records import BatchHeader, Marker, read_header
from tests.log.samples import (
    NOW_MS,
    batch,
    content,
    idempotent,
    marker,
    open_log,
    read_all,
    topic_config,
)

CONFIG = topic_config(segment_bytes=1500, index_interval_bytes=150, retention_bytes=-1)
PRODUCERS = st.integers(1, 3)


@dataclass
class Entry:
    header: BatchHeader
    marker: Marker | None = None


class LogAgainstList(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="log-model-"))
        self.entries: list[Entry] = []  # all that was not truncated, also below the log start
        self.end = 0
        self.start = 0
        self.high_watermark = 0
        self.restarted_at = 0
        self.epochs = dict.fromkeys((1, 2, 3), 0)
        self.log = open_log(self.directory, config=CONFIG)

    def teardown(self) -> None:
        if hasattr(self, "log"):
            self.log.close(clean=False)
            shutil.rmtree(self.directory)

    def _append(self, sent: bytearray, *, committed: bool | None = None) -> None:
        appended = self.log.append(
            sent, leader_epoch=1, now_ms=NOW_MS, from_client=committed is None
        )
        assert not appended.duplicate
        assert appended.first_offset == self.end
        header = read_header(sent)
        self.end = header.next_offset
        self.entries.append(Entry(header, None if committed is None else Marker(committed, 0)))

    def _replayed(self) -> ProducerState:
        producers = ProducerState()
        for entry in self.entries:
            if entry.header.producer_id >= 0:
                producers.replay(
                    entry.header, first_offset=entry.header.base_offset, marker=entry.marker
                )
        return producers

    # Appending.

    @rule(count=st.integers(1, 5), size=st.integers(0, 200), age_ms=st.integers(0, 1000))
    def append_plain(self, count: int, size: int, age_ms: int) -> None:
        self._append(batch(*[bytes(size)] * count, timestamp_ms=NOW_MS - age_ms))

    @rule(producer_id=PRODUCERS, count=st.integers(1, 3))
    def append_idempotent(self, producer_id: int, count: int) -> None:
        known = self.log.producers.entries.get(producer_id)
        epoch = self.epochs[producer_id]
        sequence = known.next_sequence if known and known.producer_epoch == epoch else 0
        in_transaction = self.log.producers.has_ongoing_transaction(producer_id)
        sent = idempotent(
            sequence,
            *[b"i"] * count,
            producer_id=producer_id,
            epoch=epoch,
            is_transactional=in_transaction,
        )
        again = bytearray(sent)
        self._append(sent)
        first = read_header(sent).base_offset
        repeated = self.log.append(again, leader_epoch=1, now_ms=NOW_MS)
        assert repeated.duplicate
        assert (repeated.first_offset, repeated.last_offset) == (first, first + count - 1)

    @rule(producer_id=PRODUCERS)
    def begin_transaction(self, producer_id: int) -> None:
        known = self.log.producers.entries.get(producer_id)
        epoch = self.epochs[producer_id]
        sequence = known.next_sequence if known and known.producer_epoch == epoch else 0
        self._append(
            idempotent(sequence, b"t", producer_id=producer_id, epoch=epoch, is_transactional=True)
        )

    @rule(producer_id=PRODUCERS, committed=st.booleans(), bump=st.booleans())
    def end_transaction(self, producer_id: int, committed: bool, bump: bool) -> None:
        self.epochs[producer_id] += bump
        sent = marker(committed=committed, producer_id=producer_id, epoch=self.epochs[producer_id])
        self._append(sent, committed=committed)

    # The life of segments.

    @rule()
    def roll(self) -> None:
        self.log.roll(NOW_MS)

    @rule()
    def flush(self) -> None:
        self.log.flush()
        assert self.log.recovery_point == self.end

    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        self.high_watermark = data.draw(st.integers(self.high_watermark, self.end))
        self.log.on_high_watermark(self.high_watermark)

    @precondition(lambda self: self.high_watermark > self.start)
    @rule(data=st.data())
    def delete_records(self, data: st.DataObject) -> None:
        self.start = data.draw(st.integers(self.start, self.high_watermark))
        self.log.advance_log_start(self.start, self.high_watermark)
        for deleted in self.log.delete_old_segments(self.high_watermark, NOW_MS):
            deleted.purge()

    @precondition(lambda self: self.end > self.high_watermark)
    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        boundaries = [
            entry.header.base_offset
            for entry in self.entries
            if entry.header.base_offset >= self.high_watermark
        ]
        if boundaries:
            self._truncate_model(data.draw(st.sampled_from(boundaries)))
            self.log.truncate_to(self.end, now_ms=NOW_MS)
            self.restarted_at = self.end
            self.log.on_high_watermark(self.high_watermark)

    def _truncate_model(self, offset: int) -> None:
        self.entries = [entry for entry in self.entries if entry.header.base_offset < offset]
        self.end = offset

    # Restarts.

    @rule()
    def restart_after_a_clean_stop(self) -> None:
        self.log.close(clean=True)
        self.log = open_log(
            self.directory,
            config=CONFIG,
            recovery_point=self.log.recovery_point,
            log_start_offset=self.start,
        )
        assert self.log.recovery_point == self.end
        self.restarted_at = self.end
        self.log.on_high_watermark(self.high_watermark)

    @rule(tail=st.sampled_from(["whole", "torn", "garbage", "zeros"]))
    def restart_after_a_crash(self, tail: str) -> None:
        recovery_point = self.log.recovery_point
        active = self.log.segments.active
        self.log.close(clean=False)
        if tail == "garbage":
            with open(active.path(), "ab") as file:
                file.write(b"\x07" * 100)
        elif tail == "zeros":
            with open(active.path(), "ab") as file:
                file.write(bytes(4096))
        elif tail == "torn" and active.size_bytes and recovery_point < self.end:
            with open(active.path(), "r+b") as file:
                file.truncate(active.size_bytes - 1)
            self._truncate_model(self.entries[-1].header.base_offset)
            self.high_watermark = min(self.high_watermark, self.end)
            self.start = min(self.start, self.end)
        self.log = open_log(
            self.directory,
            config=CONFIG,
            recovery_point=recovery_point,
            log_start_offset=self.start,
            clean=False,
        )
        assert self.log.recovery_point <= min(recovery_point, self.end)  # L2
        self.restarted_at = self.end
        self.log.on_high_watermark(self.high_watermark)

    # What must hold.

    @invariant()
    def the_log_holds_what_the_list_holds(self) -> None:
        if not hasattr(self, "log"):
            return
        assert (self.log.log_start_offset, self.log.log_end_offset) == (self.start, self.end)
        expected = [e.header for e in self.entries if e.header.last_offset >= self.start]
        assert read_all(self.log) == expected

    @invariant()
    def the_producers_are_those_of_a_full_replay(self) -> None:
        if not hasattr(self, "log"):
            return
        replayed = self._replayed()
        assert sorted(self.log.active_producers()) == sorted(replayed.active_producers())
        for producer_id, entry in replayed.entries.items():
            found = self.log.producers.entries[producer_id]
            assert found.batches[-1:] == entry.batches[-1:]
            assert found.next_sequence == entry.next_sequence
        replayed.on_high_watermark(self.high_watermark)
        lowest = self._last_stable_offset(replayed)
        # A snapshot does not tell of transactions that were decided before it.
        replayed.on_high_watermark(self.restarted_at)
        highest = self._last_stable_offset(replayed)
        assert lowest <= self.log.last_stable_offset(self.high_watermark) <= highest

    def _last_stable_offset(self, producers: ProducerState) -> int:
        first = producers.first_unstable_offset
        if first is None or first >= self.high_watermark:
            return self.high_watermark
        return max(first, self.start)

    @invariant()
    def the_aborted_transactions_are_those_of_the_list(self) -> None:
        if not hasattr(self, "log"):
            return
        aborted = []
        open_since: dict[int, int] = {}
        for entry in self.entries:
            header = entry.header
            if entry.marker is not None:
                first = open_since.pop(header.producer_id, None)
                if first is not None and not entry.marker.committed:
                    aborted.append((header.producer_id, first, header.base_offset))
            elif header.is_transactional:
                open_since.setdefault(header.producer_id, header.base_offset)
        found = self.log.aborted_transactions(self.start, self.end)
        assert found == [(p, first) for p, first, last in aborted if last >= self.start]

    @invariant()
    def every_offset_is_found(self) -> None:
        if not hasattr(self, "log"):
            return
        for offset in range(self.start, self.end, 7):
            data = content(self.log.read(offset, 1, up_to=self.end))
            header = read_header(data)
            assert header.base_offset <= offset <= header.last_offset
            assert len(data) == header.size_bytes


TestLogAgainstList = LogAgainstList.TestCase
TestLogAgainstList.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
