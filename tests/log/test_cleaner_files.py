"""The files of a compacted log, and logs that change while compaction works (C6, L8)."""

from pathlib import Path

import pytest

from kbroker.log import (
    CleaningAborted,
    CorruptLog,
    PartitionLog,
    assess,
    begin_cleaning,
    finish_cleaning,
)
from tests.log.compacted import (
    COMPACT,
    batches,
    clean,
    files,
    fill,
    keyed,
    records,
    reopened,
)
from tests.log.samples import NOW_MS, open_log, topic_config


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    return open_log(tmp_path, config=COMPACT)


# Files.


def test_small_segments_become_one(log: PartitionLog) -> None:
    fill(log, *(keyed((b"%d" % (n % 2), b"%d" % n)) for n in range(6)))

    clean(log)

    assert [segment.base_offset for segment in log.segments] == [0, 6]
    assert files(log) == [
        "00000000000000000000.index",
        "00000000000000000000.log",
        "00000000000000000000.timeindex",
        "00000000000000000006.log",
        "00000000000000000006.snapshot",
        "leader-epoch-checkpoint",
        "partition.metadata",
    ]


def test_segments_are_merged_up_to_segment_bytes(log: PartitionLog) -> None:
    fill(log, *(keyed((b"%d" % n, b"x" * 100)) for n in range(6)))
    log.config = topic_config(compact=True, segment_bytes=2 * log.segments[0].size_bytes)

    clean(log)

    assert [segment.base_offset for segment in log.segments] == [0, 2, 4, 6]


def test_offsets_are_found_in_what_is_left(log: PartitionLog) -> None:
    fill(log, *(keyed((b"%d" % (n % 5), b"x" * 200)) for n in range(40)))

    clean(log)

    for offset in range(40):
        data = log.read(offset, 1, up_to=40)
        assert data is not None
        expected = max(offset, 35)
        first = next(b for b in batches(log) if b.header.last_offset >= offset)
        assert first.header.base_offset == expected
    assert log.offset_for_timestamp(NOW_MS, up_to=40) is not None


def test_the_old_files_stay_until_they_are_purged(log: PartitionLog) -> None:
    fill(log, keyed((b"a", b"1")), keyed((b"a", b"2")))

    cleaned = clean(log, purge=False)

    deleted = [name for name in files(log) if name.endswith(".deleted")]
    assert len(deleted) == 7  # two segments of three files, and one snapshot
    for segment in cleaned.deleted_segments:
        segment.purge()
    assert [name for name in files(log) if name.endswith(".deleted")] == []


def test_producers_survive_when_their_snapshots_are_merged_away(log: PartitionLog) -> None:
    """L8, P8."""
    for n in range(4):
        fill(log, keyed((b"a", b"%d" % n), producer_id=n, producer_epoch=0, base_sequence=0))
    before = log.active_producers()

    clean(log)

    for clean_stop in (True, False):
        log = reopened(log, clean_stop=clean_stop)
        assert sorted(log.active_producers()) == sorted(before)


# When the log changes meanwhile.


def test_a_truncation_undoes_the_round_and_pulls_the_checkpoint_back(log: PartitionLog) -> None:
    """C6."""
    fill(log, keyed((b"a", b"1")), keyed((b"a", b"2")), keyed((b"a", b"3")))
    clean(log)
    assert log.first_dirty_offset == 3
    fill(log, keyed((b"b", b"4")), keyed((b"b", b"5")))
    cleanable = assess(log, 5, NOW_MS)
    assert cleanable is not None
    job = begin_cleaning(cleanable, now_ms=NOW_MS)
    job.run()

    log.truncate_to(2, now_ms=NOW_MS)

    assert log.first_dirty_offset == 2
    with pytest.raises(CleaningAborted, match="truncated"):
        finish_cleaning(job)
    assert [name for name in files(log) if "cleaned" in name or "swap" in name] == []


def test_segments_that_retention_takes_meanwhile_do_not_come_back(tmp_path: Path) -> None:
    """cleanup.policy=compact,delete: both apply."""
    config = topic_config(compact=True, delete=True, segment_bytes=100, retention_ms=1000)
    log = open_log(tmp_path, config=config)
    fill(
        log,
        keyed((b"a", b"1"), timestamp_ms=NOW_MS - 2000),
        keyed((b"b", b"1")),
        keyed((b"b", b"2")),
    )
    cleanable = assess(log, 3, NOW_MS)
    assert cleanable is not None
    job = begin_cleaning(cleanable, now_ms=NOW_MS)
    job.run()

    assert len(log.delete_old_segments(3, NOW_MS)) == 1
    finish_cleaning(job)

    assert log.log_start_offset == 1
    assert records(log) == [(2, b"b", b"2")]
    assert log.first_dirty_offset == 3


def test_half_a_group_that_retention_took_undoes_the_round(tmp_path: Path) -> None:
    config = topic_config(compact=True, delete=True, retention_ms=1000)
    log = open_log(tmp_path, config=config)
    fill(log, keyed((b"a", b"1"), timestamp_ms=NOW_MS - 2000), keyed((b"b", b"1")))
    cleanable = assess(log, 2, NOW_MS)
    assert cleanable is not None
    job = begin_cleaning(cleanable, now_ms=NOW_MS)
    job.run()

    log.delete_old_segments(2, NOW_MS)

    with pytest.raises(CleaningAborted, match="lost segments"):
        finish_cleaning(job)
    assert records(log) == [(1, b"b", b"1")]


def test_a_batch_that_cannot_be_read_stops_the_round(log: PartitionLog) -> None:
    """L7: corruption is found, and nothing is dropped."""
    fill(log, keyed((b"a", b"1")), keyed((b"a", b"2")))
    path = log.segments[0].path()
    data = bytearray(Path(path).read_bytes())
    data[-2] ^= 1
    Path(path).write_bytes(data)
    cleanable = assess(log, 2, NOW_MS)
    assert cleanable is not None
    job = begin_cleaning(cleanable, now_ms=NOW_MS)

    with pytest.raises(CorruptLog, match="CRC"):
        job.run()

    assert Path(path).read_bytes() == data
    assert [name for name in files(log) if "cleaned" in name] == []


class Stopped(Exception):
    pass


def test_a_throttle_that_raises_stops_the_round(log: PartitionLog) -> None:
    fill(log, keyed((b"a", b"1")), keyed((b"a", b"2")))
    cleanable = assess(log, 2, NOW_MS)
    assert cleanable is not None
    job = begin_cleaning(cleanable, now_ms=NOW_MS)
    seen: list[int] = []

    def throttle(byte_count: int) -> None:
        seen.append(byte_count)
        if len(seen) == 3:
            raise Stopped

    with pytest.raises(Stopped):
        job.run(throttle)

    assert len(seen) == 3
    assert [name for name in files(log) if "cleaned" in name] == []
