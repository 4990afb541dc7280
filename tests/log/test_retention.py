from pathlib import Path

import pytest

from kbroker.log import OffsetOutOfRange, PartitionLog
from tests.log.samples import NOW_MS, append, batch, content, offsets, open_log, topic_config

DAY_MS = 86_400_000


def three_segments(directory: Path, **config: object) -> PartitionLog:
    """A log with a record of 0, 1 and 2 days after NOW_MS in a segment each."""
    log = open_log(directory, config=topic_config(**config))
    for day in range(3):
        log.roll(NOW_MS)
        append(
            log, batch(b"v" * 100, timestamp_ms=NOW_MS + day * DAY_MS), now_ms=NOW_MS + 3 * DAY_MS
        )
    return log


def test_old_segments_go(tmp_path: Path) -> None:
    log = three_segments(tmp_path, retention_ms=DAY_MS)
    deleted = log.delete_old_segments(3, NOW_MS + 2 * DAY_MS + 1)
    assert [segment.base_offset for segment in deleted] == [0, 1]
    assert log.log_start_offset == 2
    assert offsets(log) == [(2, 2)]


def test_the_active_segment_goes_too_when_all_is_old(tmp_path: Path) -> None:
    log = three_segments(tmp_path, retention_ms=DAY_MS)
    deleted = log.delete_old_segments(3, NOW_MS + 10 * DAY_MS)
    assert len(deleted) == 3
    assert (log.log_start_offset, log.log_end_offset, len(log.segments)) == (3, 3, 1)
    assert append(log, batch()).first_offset == 3


def test_nothing_at_or_behind_the_high_watermark_goes(tmp_path: Path) -> None:
    """R20."""
    log = three_segments(tmp_path, retention_ms=DAY_MS)
    assert len(log.delete_old_segments(1, NOW_MS + 10 * DAY_MS)) == 1
    assert log.log_start_offset == 1


def test_large_logs_lose_their_oldest_segments(tmp_path: Path) -> None:
    log = three_segments(tmp_path, retention_ms=-1, retention_bytes=350)
    size_bytes = log.size_bytes
    assert size_bytes == 3 * 170
    assert len(log.delete_old_segments(3, NOW_MS)) == 0  # two segments are below the limit
    log.config = topic_config(retention_ms=-1, retention_bytes=340)
    assert len(log.delete_old_segments(3, NOW_MS)) == 1
    assert log.size_bytes == 340


def test_without_the_delete_policy_only_what_is_below_the_log_start_goes(tmp_path: Path) -> None:
    log = three_segments(tmp_path, retention_ms=1, retention_bytes=1, delete=False, compact=False)
    assert log.delete_old_segments(3, NOW_MS + 10 * DAY_MS) == []
    log.advance_log_start(1, 3)
    assert [each.base_offset for each in log.delete_old_segments(3, NOW_MS)] == [0]


def test_files_are_renamed_at_once_and_purged_later(tmp_path: Path) -> None:
    log = three_segments(tmp_path, retention_ms=DAY_MS)
    held = log.read(0, 1000, up_to=3)
    before = content(held)
    (first, *_) = log.delete_old_segments(3, NOW_MS + 2 * DAY_MS + 1)
    names = {path.name for path in (tmp_path / "orders-3").iterdir()}
    assert "00000000000000000000.log.deleted" in names
    assert "00000000000000000000.log" not in names
    first.purge()
    first.purge()
    assert not (tmp_path / "orders-3" / "00000000000000000000.log.deleted").exists()
    assert content(held) == before  # a slow reader still has its file


def test_records_are_deleted_up_to_the_high_watermark(tmp_path: Path) -> None:
    log = three_segments(tmp_path)
    with pytest.raises(OffsetOutOfRange):
        log.advance_log_start(3, 2)
    log.advance_log_start(2, 2)
    log.advance_log_start(1, 2)
    assert log.log_start_offset == 2
    with pytest.raises(OffsetOutOfRange):
        log.read(1, 1000, up_to=3)


def test_records_without_timestamps_go_by_the_time_of_the_file(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(retention_ms=DAY_MS))
    append(log, batch(timestamp_ms=-1))
    modified_ms = (tmp_path / "orders-3" / "00000000000000000000.log").stat().st_mtime_ns // 10**6
    assert log.delete_old_segments(1, modified_ms + DAY_MS) == []
    assert len(log.delete_old_segments(1, modified_ms + DAY_MS + 1)) == 1
