"""How far compaction may go, and when it is worth it (C1)."""

from pathlib import Path

import pytest

from kbroker.log import (
    PartitionLog,
    assess,
)
from kbroker.log.offset_map import ENTRY_BYTES
from tests.log.compacted import (
    COMPACT,
    clean,
    fill,
    final_values,
    keyed,
    records,
    transactional,
)
from tests.log.samples import NOW_MS, append, open_log, topic_config


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    return open_log(tmp_path, config=COMPACT)


def test_the_active_segment_is_never_cleaned(log: PartitionLog) -> None:
    """C1."""
    append(log, keyed((b"a", b"1")), keyed((b"a", b"2")))
    assert assess(log, log.log_end_offset, NOW_MS) is None

    log.roll(NOW_MS)
    append(log, keyed((b"a", b"3")))

    clean(log)
    assert records(log) == [(1, b"a", b"2"), (2, b"a", b"3")]


@pytest.mark.parametrize("high_watermark", [0, 1])
def test_nothing_at_or_behind_the_high_watermark_is_cleaned(
    log: PartitionLog, high_watermark: int
) -> None:
    """C1: a segment with an offset that is not committed is left alone."""
    fill(log, keyed((b"a", b"1"), (b"b", b"1")), keyed((b"a", b"2")))

    assert assess(log, high_watermark, NOW_MS) is None
    cleanable = assess(log, 2, NOW_MS)
    assert cleanable is not None
    assert cleanable.first_uncleanable_offset == 2


def test_nothing_behind_an_open_transaction_is_cleaned(log: PartitionLog) -> None:
    """C1: the last stable offset."""
    fill(log, keyed((b"a", b"1")), transactional(0, (b"a", b"2")), keyed((b"a", b"3")))

    clean(log)

    assert log.first_dirty_offset == 1
    assert [value for _, _, value in records(log)] == [b"1", b"2", b"3"]


def test_young_segments_wait_for_min_compaction_lag_ms(tmp_path: Path) -> None:
    """C1."""
    log = open_log(tmp_path, config=topic_config(compact=True, min_compaction_lag_ms=1000))
    fill(
        log,
        keyed((b"a", b"1"), timestamp_ms=NOW_MS - 1000),
        keyed((b"a", b"2"), timestamp_ms=NOW_MS - 999),
    )

    cleanable = assess(log, 2, NOW_MS)

    assert cleanable is not None
    assert cleanable.first_uncleanable_offset == 1
    later = assess(log, 2, NOW_MS + 1)
    assert later is not None
    assert later.first_uncleanable_offset == 2


def test_a_log_must_be_dirty_enough_or_overdue(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(compact=True, min_cleanable_dirty_ratio=0.5))
    fill(log, *(keyed((b"%d" % n, b"1")) for n in range(4)))
    log.first_dirty_offset = 2
    half = assess(log, 4, NOW_MS)
    assert half is not None
    assert half.ratio == 0.5
    assert not half.is_worth_it

    log.config = topic_config(
        compact=True, min_cleanable_dirty_ratio=0.5, max_compaction_lag_ms=1000
    )
    later = assess(log, 4, NOW_MS + 1000)
    assert later is not None
    assert not later.is_worth_it
    overdue = assess(log, 4, NOW_MS + 1001)
    assert overdue is not None
    assert overdue.is_worth_it


def test_max_compaction_lag_ms_rolls_segments_earlier(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(compact=True, max_compaction_lag_ms=1000))
    append(log, keyed((b"a", b"1")), keyed((b"a", b"1"), timestamp_ms=NOW_MS + 1000))
    assert len(log.segments) == 1

    append(log, keyed((b"a", b"1"), timestamp_ms=NOW_MS + 1001), now_ms=NOW_MS + 1001)

    assert len(log.segments) == 2


def test_a_topic_that_is_not_compacted_is_left_alone(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config())
    fill(log, keyed((b"a", b"1")), keyed((b"a", b"1")))

    assert assess(log, 2, NOW_MS) is None


@pytest.mark.parametrize("checkpoint", [1, 99])
def test_a_checkpoint_outside_of_the_log_counts_for_nothing(
    log: PartitionLog, checkpoint: int
) -> None:
    fill(log, *(keyed((b"a", b"%d" % n)) for n in range(4)))
    log.advance_log_start(2, 4)
    log.first_dirty_offset = checkpoint

    cleanable = assess(log, 4, NOW_MS)

    assert cleanable is not None
    assert cleanable.first_dirty_offset == 2


def test_a_full_map_cleans_as_far_as_it_goes(log: PartitionLog) -> None:
    fill(log, *(keyed((b"%d" % (n % 3), b"%d" % n)) for n in range(9)))
    before = final_values(log)

    rounds = 0
    while assess(log, 9, NOW_MS) is not None:
        clean(log, memory_bytes=2 * ENTRY_BYTES)
        rounds += 1
        assert final_values(log) == before
    assert rounds > 1
    assert log.first_dirty_offset == 9
    assert [value for _, _, value in records(log)] == [b"6", b"7", b"8"]
