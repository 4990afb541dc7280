"""Whatever was written, and however often it is compacted: every key keeps its value (C7)."""

import shutil
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kbroker.log import CleaningAborted, CompactionJob, assess, begin_cleaning, finish_cleaning
from kbroker.log.offset_map import ENTRY_BYTES
from kbroker.records import Compression
from tests.log.compacted import (
    COMPACT,
    DELETE_RETENTION_MS,
    batches,
    committed_records,
    final_values,
    keyed,
)
from tests.log.samples import NOW_MS, marker, open_log, read_all

CONFIG = replace(COMPACT, segment_bytes=1000)
PRODUCERS = st.integers(1, 3)
KEYS = st.sampled_from([b"a", b"b", b"c", b"d", b"e" * 20])
VALUES = st.one_of(st.none(), st.binary(max_size=40))
PAIRS = st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=4)


class CompactedLog(RuleBasedStateMachine):
    """A log and beside it all that was ever committed to it."""

    @initialize()
    def begin(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="compacted-"))
        self.log = open_log(self.directory, config=CONFIG)
        self.now_ms = NOW_MS
        self.high_watermark = 0
        # Offset -> key and value, of everything but aborted transactions.
        self.written: dict[int, tuple[bytes, bytes | None]] = {}
        self.undecided: dict[int, dict[int, tuple[bytes, bytes | None]]] = {}
        self.job: CompactionJob | None = None

    def teardown(self) -> None:
        if hasattr(self, "log"):
            self.log.close(clean=False)
            shutil.rmtree(self.directory)

    # Writing.

    def _sequence(self, producer_id: int) -> int:
        entry = self.log.producers.entries.get(producer_id)
        return entry.next_sequence if entry is not None else 0

    def _append(self, pairs, **fields) -> dict[int, tuple[bytes, bytes | None]]:
        appended = self.log.append(keyed(*pairs, **fields), leader_epoch=0, now_ms=self.now_ms)
        return dict(enumerate(pairs, start=appended.first_offset))

    @rule(pairs=PAIRS, compression=st.sampled_from([Compression.NONE, Compression.LZ4]))
    def append(self, pairs, compression: Compression) -> None:
        self.written |= self._append(pairs, compression=compression)

    @rule(producer_id=PRODUCERS, pairs=PAIRS)
    def append_in_a_transaction(self, producer_id: int, pairs) -> None:
        added = self._append(
            pairs,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=self._sequence(producer_id),
            is_transactional=True,
        )
        self.undecided.setdefault(producer_id, {}).update(added)

    @rule(producer_id=PRODUCERS, committed=st.booleans())
    def end_the_transaction(self, producer_id: int, committed: bool) -> None:
        ended = marker(committed=committed, producer_id=producer_id)
        self.log.append(ended, leader_epoch=0, now_ms=self.now_ms, from_client=False)
        decided = self.undecided.pop(producer_id, {})
        if committed:
            self.written |= decided

    @rule()
    def roll(self) -> None:
        self.log.roll(self.now_ms)

    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        end = self.log.log_end_offset
        self.high_watermark = max(self.high_watermark, end - data.draw(st.integers(0, 3)))
        self.log.on_high_watermark(self.high_watermark)

    # Compacting.

    @precondition(lambda self: self.job is None)
    @rule(keys=st.integers(1, 6), passed_ms=st.integers(0, DELETE_RETENTION_MS))
    def begin_a_round(self, keys: int, passed_ms: int) -> None:
        self.now_ms += passed_ms
        cleanable = assess(self.log, self.high_watermark, self.now_ms)
        if cleanable is not None:
            self.job = begin_cleaning(
                cleanable, now_ms=self.now_ms, memory_bytes=keys * ENTRY_BYTES
            )
            self.job.run()

    @precondition(lambda self: self.job is not None)
    @rule()
    def finish_the_round(self) -> None:
        job, self.job = self.job, None
        assert job is not None
        dirty_before = self.log.first_dirty_offset
        if job.truncations != self.log.truncations:
            with pytest.raises(CleaningAborted):
                finish_cleaning(job)
            return
        cleaned = finish_cleaning(job)
        assert cleaned.first_dirty_offset > dirty_before
        for segment in cleaned.deleted_segments:
            segment.purge()
        left = list(self.log.disk.files(self.log.directory))
        assert not [name for name in left if name.endswith((".cleaned", ".swap", ".deleted"))]

    # Cutting and starting again.

    @rule(data=st.data())
    def truncate(self, data: st.DataObject) -> None:
        """C6: a round that is under way comes to nothing."""
        starts = [
            header.base_offset
            for header in read_all(self.log)
            if header.base_offset >= self.high_watermark
        ]
        if starts:
            offset = data.draw(st.sampled_from(starts))
            self.log.truncate_to(offset, now_ms=self.now_ms)
            self.log.on_high_watermark(self.high_watermark)
            self._forget_from(offset)

    def _forget_from(self, offset: int) -> None:
        """Find out anew what is committed: a marker may be among what was cut."""
        self.written = {o: pair for o, pair in self.written.items() if o < offset}
        self.undecided = {}
        for batch in batches(self.log):
            header = batch.header
            if header.is_control:
                self.undecided.pop(header.producer_id, None)
            elif header.is_transactional:
                pairs = {r.offset: (r.key, r.value) for r in batch.records}
                self.undecided.setdefault(header.producer_id, {}).update(pairs)
        for pairs in self.undecided.values():
            for o in pairs:
                self.written.pop(o, None)

    @rule(clean_stop=st.booleans())
    def restart(self, clean_stop: bool) -> None:
        first_dirty_offset = self.log.first_dirty_offset
        self.log.close(clean=clean_stop)
        self.log = open_log(
            self.directory,
            config=CONFIG,
            recovery_point=self.log.recovery_point,
            log_start_offset=self.log.log_start_offset,
            clean=clean_stop,
            now_ms=NOW_MS,
        )
        self.log.first_dirty_offset = first_dirty_offset
        self.log.on_high_watermark(self.high_watermark)
        self.job = None

    # What must hold.

    @invariant()
    def every_key_has_its_value(self) -> None:
        if not hasattr(self, "log"):
            return
        expected: dict[bytes, bytes] = {}
        everything = dict(self.written)
        for pairs in self.undecided.values():
            everything |= pairs
        for _, (key, value) in sorted(everything.items()):
            expected.pop(key, None)
            if value is not None:
                expected[key] = value
        assert final_values(self.log) == expected

    @invariant()
    def what_is_left_was_written_at_its_offset(self) -> None:
        if not hasattr(self, "log"):
            return
        undecided = {o: pair for pairs in self.undecided.values() for o, pair in pairs.items()}
        for record in committed_records(self.log):
            pair = self.written.get(record.offset) or undecided[record.offset]
            assert (record.key, record.value) == pair
        found = [batch.header for batch in batches(self.log)]
        for earlier, later in pairwise(found):
            assert earlier.last_offset < later.base_offset

    @invariant()
    def no_transaction_is_open_that_has_ended(self) -> None:
        if not hasattr(self, "log"):
            return
        producers = self.log.producers
        ongoing = {n for n in producers.entries if producers.has_ongoing_transaction(n)}
        assert ongoing == {n for n, pairs in self.undecided.items() if pairs}


TestCompactedLog = CompactedLog.TestCase
TestCompactedLog.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
