"""A crash after every single operation: what was promised before it holds after it (L1 to L8)."""

from pathlib import Path

import pytest

from tests.log.compacted import COMPACT, DELETE_RETENTION_MS, clean, keyed, transactional
from tests.log.crash_traces import Trace
from tests.log.samples import NOW_MS, batch, idempotent, marker, topic_config

CONFIG = topic_config(segment_bytes=1200, index_interval_bytes=150)


def with_transactions(trace: Trace) -> None:
    trace.append(batch(b"x" * 100), idempotent(0, b"i" * 50))
    trace.append(idempotent(0, b"t" * 50, producer_id=8, is_transactional=True))
    trace.append(batch(b"y" * 700))
    trace.append(marker(committed=False, producer_id=8), from_client=False)


def test_appends_and_rolls_leave_a_prefix_of_what_was_written(tmp_path: Path) -> None:
    """L1, L3, L4."""
    trace = Trace(tmp_path, CONFIG)
    with_transactions(trace)
    for number in range(3):
        trace.append(batch(b"v" * 600), idempotent(number + 1, b"w" * 100))

    assert trace.check() > 20


def test_what_was_flushed_is_there(tmp_path: Path) -> None:
    """L2."""
    trace = Trace(tmp_path, CONFIG)
    with_transactions(trace)
    trace.flush()
    trace.append(batch(b"a" * 600), idempotent(1, b"b" * 600))
    trace.flush()
    trace.append(batch(b"c" * 1000))

    assert trace.check() > 20


def test_truncation_leaves_nothing_changed_below_it(tmp_path: Path) -> None:
    """L9: and what is written over it afterwards is not mixed with it."""
    trace = Trace(tmp_path, CONFIG)
    with_transactions(trace)
    trace.append(idempotent(1, b"a" * 900), batch(b"b" * 900))
    trace.flush()
    trace.truncate(3)
    trace.append(batch(b"other" * 20))
    trace.flush()
    trace.append(idempotent(1, b"c" * 900))

    assert trace.check() > 20


def test_truncation_of_whole_segments_leaves_no_gap(tmp_path: Path) -> None:
    trace = Trace(tmp_path, CONFIG)
    trace.append(*(batch(b"a" * 1000) for _ in range(5)))
    trace.flush()
    trace.truncate(1)
    trace.append(batch(b"b" * 1000), batch(b"c" * 1000))
    trace.flush()

    assert trace.check() > 10


def test_retention_takes_whole_segments_from_the_front(tmp_path: Path) -> None:
    """P9: the producers are still known."""
    trace = Trace(tmp_path, topic_config(segment_bytes=1200, retention_bytes=1500))
    trace.append(idempotent(0, b"i" * 900), *(batch(b"a" * 900) for _ in range(3)))
    trace.flush()
    deleted = trace.log.delete_old_segments(4, NOW_MS)
    assert len(deleted) == 2
    trace.note()
    for segment in deleted:
        segment.purge()
        trace.note()

    assert trace.check() > 10


def test_a_clean_stop_is_clean_only_if_everything_is_there(tmp_path: Path) -> None:
    trace = Trace(tmp_path, CONFIG)
    with_transactions(trace)
    trace.append(batch(b"v" * 600))
    trace.log.close(clean=True)
    trace.note()

    assert trace.check() > 20


def prepared_for_compaction(trace: Trace) -> None:
    """Segments with everything that compaction knows: keys, tombstones, transactions."""
    for number in range(3):
        trace.append(
            keyed((b"a", b"%d" % number), (b"%d" % number, b"v" * 300)),
            transactional(2 * number, (b"b", b"%d" % number)),
            transactional(2 * number + 1, (b"c", b"%d" % number)),
        )
        trace.append(marker(committed=number != 1, producer_id=7), from_client=False)
        trace.append(keyed((b"d", None if number == 1 else b"v")))
        trace.roll()
    trace.append(keyed((b"e", b"v")))


@pytest.mark.parametrize("is_flushed", [True, False])
def test_a_swap_leaves_every_key_its_value(tmp_path: Path, is_flushed: bool) -> None:
    """L8, C7: also where the order of names on the platter is not that of the calls."""
    trace = Trace(tmp_path, COMPACT)
    prepared_for_compaction(trace)
    if is_flushed:
        trace.flush()
    else:
        trace.log.flush()
        trace.note()
    begun = len(trace.disk.operations)
    for now_ms in (NOW_MS, NOW_MS, NOW_MS + DELETE_RETENTION_MS):
        cleaned = clean(trace.log, now_ms=now_ms, purge=False)
        trace.note(compacted=True)
        for segment in cleaned.deleted_segments:
            segment.purge()
        trace.append(keyed((b"z", b"%d" % now_ms)))
        trace.roll()
        trace.flush()

    assert trace.check(start=begun, shuffled=True) > 50
