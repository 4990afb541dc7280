"""Appending, reading, rolling, flushing, truncating and deleting one partition."""

from pathlib import Path

import pytest

from kbroker.log import (
    InvalidProducerEpoch,
    OffsetOutOfRange,
    PartitionLog,
    UnexpectedOffset,
)
from kbroker.records import CorruptRecords, InvalidBatch, read_header, scan_batches
from tests.log.samples import (
    NOW_MS,
    append,
    append_marker,
    batch,
    content,
    idempotent,
    marker,
    offsets,
    open_log,
    read_all,
    topic_config,
)

SMALL = topic_config(segment_bytes=1000, index_interval_bytes=200)


def filled(directory: Path, count: int = 20, **config: object) -> PartitionLog:
    """Batches of one record and 170 bytes each."""
    log = open_log(directory, config=topic_config(**config))
    for _ in range(count):
        append(log, batch(b"v" * 100))
    return log


# Appending.


def test_a_new_partition_has_its_files(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    assert (log.log_start_offset, log.log_end_offset, log.size_bytes) == (0, 0, 0)
    names = {path.name for path in (tmp_path / "orders-3").iterdir()}
    assert names == {"00000000000000000000.log", "partition.metadata"}
    text = (tmp_path / "orders-3" / "partition.metadata").read_text()
    assert text == "version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"


def test_offsets_and_epoch_are_stamped_where_the_batch_lies(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, batch(b"a", b"b", b"c"), epoch=4)
    sent = batch(b"d", b"e")
    appended = log.append(memoryview(sent), leader_epoch=5, now_ms=NOW_MS)
    assert (appended.first_offset, appended.last_offset) == (3, 4)
    assert not appended.duplicate
    header = read_header(sent)
    assert (header.base_offset, header.partition_leader_epoch) == (3, 5)
    assert content(log.read(3, 1000, up_to=5)) == bytes(sent)
    assert log.end_offset_for_epoch(4) == (4, 3)


def test_clients_may_not_write_control_batches_or_several_at_once(tmp_path: Path) -> None:
    """T16."""
    log = open_log(tmp_path)
    with pytest.raises(InvalidBatch):
        append(log, marker(committed=True))
    with pytest.raises(InvalidBatch):
        append(log, batch() + batch())
    assert log.log_end_offset == 0


def test_our_own_batches_may_come_in_a_row(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    rows = batch(b"a", b"b") + batch(b"c")
    appended = log.append(rows, leader_epoch=1, now_ms=NOW_MS, from_client=False)
    assert (appended.first_offset, appended.last_offset) == (0, 2)
    assert offsets(log) == [(0, 1), (2, 2)]


def test_a_fenced_marker_leaves_nothing(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, idempotent(0, b"a", epoch=3, is_transactional=True))
    with pytest.raises(InvalidProducerEpoch):
        append_marker(log, committed=True, epoch=2)
    assert log.log_end_offset == 1
    assert log.producers.has_ongoing_transaction(7)


def test_a_follower_takes_offsets_and_epochs_as_they_are(tmp_path: Path) -> None:
    """P6."""
    leader = open_log(tmp_path / "leader")
    append(leader, batch(b"a", b"b"), epoch=1)
    append(leader, idempotent(5, b"c", is_transactional=True), epoch=3)
    append_marker(leader, committed=False)
    data = content(leader.read(0, 10_000, up_to=leader.log_end_offset))
    follower = open_log(tmp_path / "follower")
    follower.append_as_follower(bytearray(data + data[:30]), now_ms=NOW_MS)
    assert read_all(follower) == read_all(leader)
    assert follower.active_producers() == leader.active_producers()
    assert follower.aborted_transactions(0, 10) == leader.aborted_transactions(0, 10) != []
    assert follower.end_offset_for_epoch(1) == (1, 2)


def test_a_follower_refuses_bad_batches_and_offsets_it_has(tmp_path: Path) -> None:
    log = filled(tmp_path, 1)
    data = bytearray(content(log.read(0, 1000, up_to=1)))
    with pytest.raises(UnexpectedOffset):
        log.append_as_follower(data, now_ms=NOW_MS)
    data[7] = 1
    data[-2] ^= 1
    with pytest.raises(CorruptRecords):
        log.append_as_follower(data, now_ms=NOW_MS)
    assert log.log_end_offset == 1


# Reading.


def test_a_read_begins_with_the_batch_that_holds_the_offset(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, batch(b"a", b"b"), batch(b"c", b"d", b"e"), batch(b"f"))
    headers = [header for _, header in scan_batches(content(log.read(3, 10_000, up_to=6)))]
    assert [header.base_offset for header in headers] == [2, 5]


def test_a_read_stops_below_the_offset_it_is_given(tmp_path: Path) -> None:
    log = filled(tmp_path, 10)
    assert [h.base_offset for h in read_all(log)] == list(range(10))
    data = content(log.read(2, 10_000, up_to=5))
    assert [header.base_offset for _, header in scan_batches(data)] == [2, 3, 4]
    assert log.read(5, 10_000, up_to=5) is None
    assert log.read(10, 10_000, up_to=10) is None


def test_max_bytes_cuts_but_not_the_first_batch(tmp_path: Path) -> None:
    log = filled(tmp_path, 10)
    assert len(content(log.read(0, 400, up_to=10))) == 400
    assert len(content(log.read(0, 1, up_to=10))) == 170
    assert log.read(0, 1, up_to=10, at_least_one_batch=False) is None
    assert log.read(0, 0, up_to=10, at_least_one_batch=False) is None


def test_a_read_stays_within_one_segment(tmp_path: Path) -> None:
    log = filled(tmp_path, 20, segment_bytes=1000)
    data = content(log.read(0, 1 << 20, up_to=20))
    assert len(data) == log.segments[0].size_bytes
    assert len(log.segments) == 4


def test_a_log_of_many_segments_keeps_few_files_open(tmp_path: Path) -> None:
    log = filled(tmp_path, 60, segment_bytes=400)
    assert len(log.segments) == 30
    log.flush()
    assert sum(segment._file is not None for segment in log.segments) <= 5
    assert len(read_all(log)) == 60
    for number in range(60):
        assert log.offset_for_timestamp(NOW_MS, up_to=60 - number) is not None
        log.aborted_transactions(number, 60)
    assert sum(segment._file is not None for segment in log.segments) <= 5
    assert sum(segment._offset_index is not None for segment in log.segments) <= 5


def test_a_reader_at_the_end_gets_what_comes_next(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    offset = 0
    for number in range(50):
        append(log, batch(b"%d" % number))
        data = content(log.read(offset, 1 << 20, up_to=log.log_end_offset))
        (found,) = [header for _, header in scan_batches(data)]
        assert found.base_offset == number
        offset = found.next_offset


def test_offsets_outside_the_log_are_out_of_range(tmp_path: Path) -> None:
    log = filled(tmp_path, 3)
    for offset in (-1, 4):
        with pytest.raises(OffsetOutOfRange):
            log.read(offset, 1000, up_to=3)


def test_a_slice_outlives_the_log(tmp_path: Path) -> None:
    log = filled(tmp_path, 3)
    held = log.read(0, 1000, up_to=3)
    before = content(held)
    log.close(clean=True)
    log.delete_directory("0123456789abcdef0123456789abcdef").purge()
    assert content(held) == before


def test_the_aborted_transactions_of_a_slice_are_bounded_by_its_end(tmp_path: Path) -> None:
    """T10."""
    log = open_log(tmp_path, config=topic_config(index_interval_bytes=100))
    for sequence in range(0, 10, 2):
        append(log, idempotent(sequence, b"v" * 100, b"v", is_transactional=True))
        append_marker(log, committed=False)
    first = log.read(0, 100, up_to=log.log_end_offset)
    assert first is not None
    end = log.upper_bound_offset(first)
    assert 1 < end < log.log_end_offset
    assert (7, 0) in log.aborted_transactions(0, end)
    assert len(log.aborted_transactions(0, end)) < 5
    assert len(log.aborted_transactions(0, log.log_end_offset)) == 5


def test_the_last_stable_offset_waits_for_the_marker(tmp_path: Path) -> None:
    """T9."""
    log = open_log(tmp_path)
    append(log, batch(), idempotent(0, b"t", is_transactional=True), batch())
    log.on_high_watermark(3)
    assert log.last_stable_offset(3) == 1
    append_marker(log, committed=True)
    assert log.last_stable_offset(3) == 1
    log.on_high_watermark(4)
    assert log.last_stable_offset(4) == 4


# Time.


def test_offsets_are_found_by_time(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=SMALL)
    for number in range(20):
        append(log, batch(b"v" * 50, b"v" * 50, timestamp_ms=NOW_MS + 10 * number))
    for number in range(20):
        found = log.offset_for_timestamp(NOW_MS + 10 * number - 5, up_to=40)
        assert found == (2 * number, NOW_MS + 10 * number, 0)
    assert log.offset_for_timestamp(NOW_MS + 191, up_to=40) is None
    assert log.offset_for_timestamp(NOW_MS + 100, up_to=20) is None
    log.advance_log_start(7, 40)
    assert log.offset_for_timestamp(0, up_to=40) == (7, NOW_MS + 30, 0)


def test_the_largest_timestamp_is_found(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=SMALL)
    assert log.max_timestamp_offset() is None
    for timestamp_ms in (5, 9, 3, 9, 1):
        append(log, batch(b"v" * 300, timestamp_ms=timestamp_ms))
    assert log.max_timestamp_offset() == (1, 9, 0)
    log.close(clean=True)
    assert open_log(tmp_path, config=SMALL).max_timestamp_offset() == (1, 9, 0)


# Rolling.


def test_a_segment_rolls_by_size(tmp_path: Path) -> None:
    log = filled(tmp_path, 6, segment_bytes=510)
    assert [(segment.base_offset, segment.size_bytes) for segment in log.segments] == [
        *((0, 510), (3, 510))
    ]
    assert (tmp_path / "orders-3" / "00000000000000000003.snapshot").exists()


def test_a_segment_rolls_by_the_time_of_its_records(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(segment_ms=1000))
    append(log, batch(timestamp_ms=NOW_MS), batch(timestamp_ms=NOW_MS + 1000))
    assert len(log.segments) == 1
    append(log, batch(timestamp_ms=NOW_MS + 1001), now_ms=NOW_MS + 5)
    assert len(log.segments) == 2


def test_records_without_time_roll_by_the_clock(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(segment_ms=1000))
    append(log, batch(timestamp_ms=-1))
    append(log, batch(timestamp_ms=-1), now_ms=NOW_MS + 1000)
    assert len(log.segments) == 1
    append(log, batch(timestamp_ms=-1), now_ms=NOW_MS + 1001)
    assert len(log.segments) == 2


@pytest.mark.parametrize(("step_ms", "entries"), [(0, 7), (1, 4)])
def test_a_full_index_rolls(tmp_path: Path, step_ms: int, entries: int) -> None:
    """Sixty bytes hold seven entries of eight bytes, or four of twelve and the one that closes."""
    log = open_log(tmp_path, config=topic_config(index_interval_bytes=1, segment_index_bytes=60))
    for number in range(30):
        append(log, batch(timestamp_ms=NOW_MS + step_ms * number))
    assert len(log.segments) > 3
    assert {len(segment.offset_index) for segment in log.segments.as_list()[:-1]} == {entries}
    assert offsets(log) == [(number, number) for number in range(30)]


def test_an_offset_too_far_from_the_base_rolls(tmp_path: Path) -> None:
    log = filled(tmp_path, 1)
    far = batch(b"far", base_offset=0)
    far[:8] = (2**31 + 5).to_bytes(8, "big")
    log.append_as_follower(far, now_ms=NOW_MS)
    assert [segment.base_offset for segment in log.segments] == [0, 2**31 + 5]
    assert offsets(log) == [(0, 0), (2**31 + 5, 2**31 + 5)]


def test_jitter_rolls_earlier_but_never_later(tmp_path: Path) -> None:
    log = open_log(tmp_path, config=topic_config(segment_ms=1000, segment_jitter_ms=999))
    append(log, batch(timestamp_ms=NOW_MS))
    rolled_after_ms = next(
        ms
        for ms in range(0, 1002, 1)
        if append(log, batch(timestamp_ms=NOW_MS + ms)) and len(log.segments) == 2
    )
    assert 0 < rolled_after_ms <= 1001


def test_an_empty_segment_does_not_roll(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    log.roll(NOW_MS)
    assert len(log.segments) == 1
    assert not log.due_for_roll(NOW_MS + 10**12)


def test_a_change_of_config_counts_for_the_next_batch(tmp_path: Path) -> None:
    log = filled(tmp_path, 3)
    log.config = topic_config(segment_bytes=600)
    append(log, batch(b"v" * 100))
    assert len(log.segments) == 2


# The end and the start.


def test_truncation_drops_batches_segments_and_producers(tmp_path: Path) -> None:
    """L9."""
    log = open_log(tmp_path, config=SMALL)
    for sequence in range(20):
        append(log, idempotent(sequence, b"v" * 100), epoch=sequence // 10)
    assert log.truncate_to(8, now_ms=NOW_MS)
    assert offsets(log) == [(number, number) for number in range(8)]
    assert log.producers.entries[7].next_sequence == 8
    assert log.latest_epoch == 0
    assert append(log, idempotent(8, b"again")).first_offset == 8


def test_truncation_behind_the_end_drops_only_epochs(tmp_path: Path) -> None:
    """R9."""
    log = filled(tmp_path, 3)
    log.assign_epoch_start(9)
    assert not log.truncate_to(3, now_ms=NOW_MS)
    assert (log.log_end_offset, log.latest_epoch) == (3, 0)


def test_truncation_to_the_base_of_a_segment_leaves_it_empty(tmp_path: Path) -> None:
    """L11."""
    log = filled(tmp_path, 20, segment_bytes=1000)
    base = log.segments[2].base_offset
    log.truncate_to(base, now_ms=NOW_MS)
    assert (log.segments.active.base_offset, log.segments.active.size_bytes) == (base, 0)
    assert append(log, batch()).first_offset == base


def test_a_follower_left_behind_starts_anew(tmp_path: Path) -> None:
    log = filled(tmp_path, 20, segment_bytes=1000)
    log.truncate_fully_and_start_at(100, now_ms=NOW_MS)
    assert (log.log_start_offset, log.log_end_offset, log.recovery_point) == (100, 100, 100)
    assert (len(log.segments), log.latest_epoch) == (1, -1)
    assert append(log, batch()).first_offset == 100
    names = {path.name for path in (tmp_path / "orders-3").glob("*.log")}
    assert names == {"00000000000000000100.log"}


# Flushing and going away.


def test_a_flush_moves_the_recovery_point_to_where_it_began(tmp_path: Path) -> None:
    """L2."""
    log = filled(tmp_path, 10, segment_bytes=1000)
    job = log.flush_target(now_ms=NOW_MS + 5)
    assert job is not None
    append(log, batch())
    job.run()
    assert log.recovery_point == 0
    log.on_flushed(job)
    assert (log.recovery_point, log.unflushed_messages) == (10, 1)
    assert log.last_flush_ms == NOW_MS + 5
    log.flush()
    assert log.flush_target() is None


def test_a_flush_from_before_a_truncation_proves_nothing(tmp_path: Path) -> None:
    """L2."""
    log = filled(tmp_path, 10)
    job = log.flush_target()
    assert job is not None
    log.truncate_to(4, now_ms=NOW_MS)
    for _ in range(10):
        append(log, batch(b"other"))
    job.run()
    log.on_flushed(job)
    assert log.recovery_point == 0


def test_a_deleted_partition_is_renamed_then_purged(tmp_path: Path) -> None:
    log = filled(tmp_path, 2)
    deleted = log.delete_directory("0123456789abcdef0123456789abcdef")
    name = "orders-3.0123456789abcdef0123456789abcdef-delete"
    assert [path.name for path in tmp_path.iterdir()] == [name]
    deleted.purge()
    assert list(tmp_path.iterdir()) == []
