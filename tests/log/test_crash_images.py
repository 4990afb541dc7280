"""A crash after every single operation: what was promised before it holds after it (L1 to L8)."""

import shutil
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from kbroker.log import REAL_DISK, LogDirectory
from kbroker.log.checkpoints import RECOVERY_POINTS, read_offsets
from tests.log.compacted import COMPACT, DELETE_RETENTION_MS, keyed, transactional
from tests.log.crash_disk import CrashDisk, History, put
from tests.log.crash_traces import Trace, raw_batches
from tests.log.samples import NOW_MS, ORDERS, batch, idempotent, marker, open_log, topic_config

# Seconds of work; part of `make test`, not of `make check`.
pytestmark = pytest.mark.slow

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"

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


def test_a_roll_right_behind_a_flush_keeps_the_aborted_transactions(tmp_path: Path) -> None:
    """T10: recovery begins with the new segment, so nobody builds the old one's indexes again."""
    trace = Trace(tmp_path, CONFIG)
    with_transactions(trace)
    trace.flush()
    trace.roll()
    trace.append(batch(b"z"))
    trace.flush()

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
    begun = len(trace.disk.operations)
    for now_ms in (NOW_MS, NOW_MS, NOW_MS + DELETE_RETENTION_MS):
        trace.clean(now_ms)
        trace.append(keyed((b"z", b"%d" % now_ms)))
        trace.roll()
        if is_flushed:
            trace.flush()

    assert trace.check(start=begun, torn=1, shuffled=True) > 50


def test_groups_of_segments_are_swapped_together(tmp_path: Path) -> None:
    """L8: a tombstone may not go before the values it deletes have gone."""
    trace = Trace(tmp_path, replace(COMPACT, segment_bytes=400))
    for number in range(3):
        trace.append(keyed((b"k", b"%d" % number), (b"%d" % number, b"v" * 150)))
    trace.append(keyed((b"k", None), (b"l", b"v" * 200)), keyed((b"m", b"v")))
    trace.roll()
    trace.flush()
    begun = len(trace.disk.operations)
    trace.clean(NOW_MS)
    trace.append(keyed((b"n", b"v")))
    trace.roll()
    trace.flush()
    trace.clean(NOW_MS + DELETE_RETENTION_MS)
    assert len(trace.log.segments) > 3

    assert trace.check(start=begun, torn=1, shuffled=True) > 50


# Checkpoints and the marker of a clean stop.


def test_a_checkpoint_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    """L5."""
    (tmp_path / "data").mkdir()
    disk = CrashDisk(tmp_path / "data")
    directory = LogDirectory.open(disk.root, disk=disk)
    directory.write_recovery_points({ORDERS: 1})
    begun = len(disk.operations)
    directory.write_recovery_points({ORDERS: 2000})
    ended = len(disk.operations)
    directory.close()

    history = History()
    for number, operation in enumerate(disk.operations, start=1):
        history.apply(operation)
        if number < begun:
            continue
        for kind, image in history.images(Random(number), torn=5):
            put(image, tmp_path / "image")
            path = str(tmp_path / "image" / RECOVERY_POINTS)
            found = read_offsets(REAL_DISK, path)[ORDERS]
            assert found in (1, 2000)
            assert number < ended or found == 2000, f"{kind} after {number}"
            shutil.rmtree(tmp_path / "image")


def test_the_marker_of_a_clean_stop_says_the_truth(tmp_path: Path) -> None:
    """R17: where it is found, nothing needs to be checked and nothing is missing."""
    trace = Trace(tmp_path, CONFIG)
    with_transactions(trace)
    trace.append(batch(b"v" * 600))
    directory = LogDirectory.open(trace.disk.root, disk=trace.disk)
    trace.log.close(clean=True)
    directory.write_recovery_points({ORDERS: trace.log.recovery_point})
    directory.write_clean_marker(1)
    directory.close()

    history = History()
    marked = 0
    for number, operation in enumerate(trace.disk.operations, start=1):
        history.apply(operation)
        for _, image in history.images(Random(number), torn=3):
            if CLEAN_SHUTDOWN not in image:
                continue
            marked += 1
            put(image, tmp_path / "image")
            log = open_log(tmp_path / "image", config=CONFIG, clean=True)
            assert raw_batches(log) == list(trace.promises[-1].batches)
            assert log.recovery_point == log.log_end_offset == trace.log.log_end_offset
            assert sorted(log.active_producers()) == sorted(trace.log.active_producers())
            assert log.aborted_transactions(0, 5) == trace.log.aborted_transactions(0, 5)
            shutil.rmtree(tmp_path / "image")
    assert marked


# Crashes of the recovery itself.


@pytest.mark.parametrize("what", ["swap", "torn tail"])
def test_a_recovery_that_crashes_is_begun_again(tmp_path: Path, what: str) -> None:
    """L3, L8: whatever it has done by then."""
    trace = Trace(tmp_path, COMPACT if what == "swap" else CONFIG)
    if what == "swap":
        prepared_for_compaction(trace)
        trace.flush()
        begun = len(trace.disk.operations)
        trace.clean(NOW_MS)
    else:
        with_transactions(trace)
        trace.flush()
        begun = len(trace.disk.operations)
        trace.append(*(batch(b"v" * 500) for _ in range(5)))

    random = Random(what)
    history = History()
    for number, operation in enumerate(trace.disk.operations, start=1):
        history.apply(operation)
        if number > begun and number % 2 == 0:
            image = history.torn(random) if number % 4 else history.killed()
            trace.check_interrupted_recovery(image, number, random)
    assert trace.images_checked > 80


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
def test_long_random_traces_keep_their_promises(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    trace = Trace(tmp_path, replace(COMPACT, segment_bytes=900))
    sequences = dict.fromkeys((1, 2, 3), 0)
    now_ms = NOW_MS
    for _ in range(40):
        producer_id = random.choice((1, 2, 3))
        key = random.choice([b"a", b"b", b"c", b"d"])
        value = random.choice([None, b"%d" % random.randrange(1000), b"v" * 200])
        match random.choice(["plain", "data", "data", "marker", "roll", "flush", "clean"]):
            case "plain":
                trace.append(keyed((key, value), (b"k" * 20, b"w")))
            case "data":
                sequence = sequences[producer_id]
                trace.append(transactional(sequence, (key, value), producer_id=producer_id))
                sequences[producer_id] += 1
            case "marker":
                committed = random.random() < 0.5
                trace.append(
                    marker(committed=committed, producer_id=producer_id), from_client=False
                )
            case "roll":
                trace.roll()
            case "flush":
                trace.flush()
            case "clean":
                now_ms += DELETE_RETENTION_MS // 2
                trace.clean(now_ms)

    assert trace.check(torn=2, seed=seed) > 50
