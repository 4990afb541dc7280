"""What compaction takes and what it leaves: keys, tombstones, transactions (C2 to C5, C7)."""

from pathlib import Path

import pytest

from kbroker.log import (
    PartitionLog,
)
from kbroker.records import Compression
from tests.log.compacted import (
    COMPACT,
    DELETE_RETENTION_MS,
    batches,
    clean,
    committed_records,
    files,
    fill,
    final_values,
    keyed,
    records,
    reopened,
    transactional,
)
from tests.log.samples import NOW_MS, append, append_marker, idempotent, open_log, topic_config

LATER_MS = NOW_MS + DELETE_RETENTION_MS


@pytest.fixture
def log(tmp_path: Path) -> PartitionLog:
    return open_log(tmp_path, config=COMPACT)


# What goes and what stays.


def test_only_the_last_record_of_a_key_stays_at_its_offset(log: PartitionLog) -> None:
    fill(log, keyed((b"a", b"1"), (b"b", b"2")), keyed((b"a", b"3")), keyed((b"c", b"4")))

    cleaned = clean(log)

    assert records(log) == [(1, b"b", b"2"), (2, b"a", b"3"), (3, b"c", b"4")]
    assert cleaned.first_dirty_offset == log.first_dirty_offset == 4
    assert (cleaned.stats.records_read, cleaned.stats.records_written) == (4, 3)
    assert log.log_end_offset == 4


def test_a_batch_keeps_its_offsets_sequence_and_epochs_when_it_loses_records(
    log: PartitionLog,
) -> None:
    """C2: the last offset stays that of the batch, not that of the last record left."""
    sent = keyed(
        (b"a", b"1"), (b"b", b"1"), (b"c", b"1"), producer_id=7, producer_epoch=2, base_sequence=40
    )
    append(log, sent, epoch=5)
    append(log, keyed((b"c", b"2"), (b"d", b"2")), epoch=5)
    before = batches(log)[0].header
    log.roll(NOW_MS)

    clean(log)

    after = batches(log)[0].header
    assert records(log) == [(0, b"a", b"1"), (1, b"b", b"1"), (3, b"c", b"2"), (4, b"d", b"2")]
    assert (after.base_offset, after.last_offset, after.last_offset_delta) == (0, 2, 2)
    assert (after.base_sequence, after.last_sequence) == (40, 42)
    assert (after.producer_id, after.producer_epoch) == (7, 2)
    assert after.partition_leader_epoch == before.partition_leader_epoch == 5


def test_the_last_batch_of_a_producer_stays_as_a_header(log: PartitionLog) -> None:
    """C2: a replay of the log must find the sequence of every producer."""
    first = keyed((b"a", b"0"), producer_id=7, producer_epoch=0, base_sequence=0)
    second = keyed((b"a", b"1"), producer_id=7, producer_epoch=0, base_sequence=1)
    fill(log, first, second, keyed((b"a", b"2")), keyed((b"z", b"2")))

    clean(log)

    left = [(b.header.base_offset, b.header.base_sequence, len(b.records)) for b in batches(log)]
    assert left == [(1, 1, 0), (2, -1, 1), (3, -1, 1)]
    log = reopened(log, clean_stop=False)
    assert log.producers.entries[7].next_sequence == 2
    assert append(log, idempotent(2, key=b"x")).first_offset == 4


def test_records_without_a_key_go(tmp_path: Path) -> None:
    """Such records are from before the topic was compacted."""
    log = open_log(tmp_path, config=topic_config())
    fill(log, keyed((None, b"1"), (b"a", b"1")))
    log.config = COMPACT

    cleaned = clean(log)

    assert records(log) == [(1, b"a", b"1")]
    assert cleaned.stats.keyless_records == 1


@pytest.mark.parametrize("compression", list(Compression))
def test_compressed_batches_stay_compressed(log: PartitionLog, compression: Compression) -> None:
    fill(
        log,
        keyed((b"a", b"1" * 100), (b"b", b"1" * 100), compression=compression),
        keyed((b"a", b"2" * 100), compression=compression),
    )

    clean(log)

    assert records(log) == [(1, b"b", b"1" * 100), (2, b"a", b"2" * 100)]
    assert {batch.header.compression for batch in batches(log)} == {compression}


def test_long_keys_are_told_apart(log: PartitionLog) -> None:
    long = b"k" * 15
    fill(log, *(keyed((long + tail, b"1")) for tail in (b"", b"a", b"b", b"a" * 99, b"b")))

    clean(log)

    assert [key for _, key, _ in records(log)] == [long, long + b"a", long + b"a" * 99, long + b"b"]


def test_a_reader_of_the_old_files_reads_on(log: PartitionLog) -> None:
    fill(log, keyed((b"a", b"1")), keyed((b"a", b"2")))
    old = log.read(0, 1000, up_to=2)
    assert old is not None

    clean(log)

    assert log.disk.read(old.file_descriptor, old.length, old.position)[61:].endswith(b"1\x00")


# Tombstones.


def test_a_tombstone_stays_for_delete_retention_ms_after_the_first_round(log: PartitionLog) -> None:
    """C5: whoever begins to read before its time is over must come across it."""
    fill(log, keyed((b"a", b"1")), keyed((b"a", None), (b"b", b"1")))
    clean(log, now_ms=NOW_MS)
    assert records(log) == [(1, b"a", None), (2, b"b", b"1")]
    header = batches(log)[0].header
    assert header.has_delete_horizon
    assert header.base_timestamp_ms == LATER_MS
    assert [record.timestamp_ms for record in batches(log)[0].records] == [NOW_MS, NOW_MS]

    fill(log, keyed((b"c", b"1")))
    clean(log, now_ms=LATER_MS - 1)
    assert (1, b"a", None) in records(log)
    assert batches(log)[0].header.base_timestamp_ms == LATER_MS, "the first round counts"

    fill(log, keyed((b"d", b"1")))
    clean(log, now_ms=LATER_MS)
    assert [key for _, key, _ in records(log)] == [b"b", b"c", b"d"]


# Transactions.


def test_records_of_aborted_transactions_go_and_those_of_committed_ones_count(
    log: PartitionLog,
) -> None:
    """C4, C7: an aborted record is not the last of its key."""
    append(log, keyed((b"a", b"first"), (b"b", b"first")))
    append(log, transactional(0, (b"a", b"aborted"), producer_id=1))
    append(log, transactional(0, (b"b", b"committed"), producer_id=2))
    append_marker(log, committed=False, producer_id=1)
    append_marker(log, committed=True, producer_id=2)
    fill(log, keyed((b"z", b"end")))
    log.on_high_watermark(log.log_end_offset)
    before = final_values(log)

    clean(log)

    assert records(log) == [(0, b"a", b"first"), (3, b"b", b"committed"), (6, b"z", b"end")]
    assert final_values(log) == before == {b"a": b"first", b"b": b"committed", b"z": b"end"}


def test_the_abort_of_a_later_segment_counts_for_earlier_ones(log: PartitionLog) -> None:
    """C4: the marker may lie in a segment that is not cleaned."""
    fill(log, keyed((b"a", b"first")), transactional(0, (b"a", b"aborted")))
    append_marker(log, committed=False)  # in the active segment
    log.on_high_watermark(log.log_end_offset)

    clean(log)

    assert [r.value for r in committed_records(log)] == [b"first"]
    assert (0, b"a", b"first") in records(log)
    assert log.aborted_transactions(0, 3) == [(7, 1)], "the other segment's index is untouched"


def test_a_marker_stays_until_its_data_is_gone_and_the_horizon_has_passed(
    log: PartitionLog,
) -> None:
    """C3."""

    def markers() -> list[int]:
        found = (b for b in batches(log) if b.header.is_control and b.records)
        return [batch.header.base_offset for batch in found]

    append(log, transactional(0, (b"a", b"1")))
    append_marker(log, committed=True)
    append(log, transactional(1, (b"b", b"1")))  # the producer's last batch is another one
    append_marker(log, committed=True)
    log.on_high_watermark(log.log_end_offset)
    fill(log, keyed((b"c", b"1")))
    clean(log)
    assert markers() == [1, 3], "there is data before both"

    fill(log, keyed((b"a", b"2")))
    clean(log)
    assert records(log)[0] == (2, b"b", b"1")
    assert markers() == [1, 3], "the data was there when this round began"

    fill(log, keyed((b"x", b"1")))
    clean(log, now_ms=NOW_MS)
    assert markers() == [1, 3], "the horizon is set now"
    assert [b.header.has_delete_horizon for b in batches(log) if b.header.is_control] == [
        True,
        False,
    ]

    fill(log, keyed((b"y", b"1")))
    clean(log, now_ms=LATER_MS - 1)
    assert markers() == [1, 3]

    fill(log, keyed((b"z", b"1")))
    clean(log, now_ms=LATER_MS)
    assert markers() == [3]
    log = reopened(log, clean_stop=False)
    assert log.last_stable_offset(log.log_end_offset) == log.log_end_offset


def test_the_index_forgets_an_aborted_transaction_with_its_data(log: PartitionLog) -> None:
    append(log, transactional(0, (b"a", b"1"), producer_id=1))
    append_marker(log, committed=False, producer_id=1)
    append(log, transactional(1, (b"a", b"2"), producer_id=1))
    append_marker(log, committed=True, producer_id=1)
    log.on_high_watermark(log.log_end_offset)
    fill(log, keyed((b"z", b"1")))

    clean(log)
    assert log.aborted_transactions(0, 5) == [(1, 0)], "its data was met in this round"
    fill(log, keyed((b"y", b"1")))
    clean(log)

    assert log.aborted_transactions(0, 6) == []
    assert [r.value for r in committed_records(log)] == [b"2", b"1", b"1"]
    assert [name for name in files(log) if name.endswith("txnindex")] == []


def test_the_marker_of_a_producer_without_data_in_its_epoch_stays_as_a_header(
    log: PartitionLog,
) -> None:
    """C2: by it, a replay knows the epoch that fences the older ones."""
    append(log, transactional(0, (b"a", b"1"), epoch=0))
    append_marker(log, committed=True, epoch=1)
    log.on_high_watermark(log.log_end_offset)
    fill(log, keyed((b"a", b"2")))
    for now_ms in (NOW_MS, NOW_MS, LATER_MS, LATER_MS):
        fill(log, keyed((b"z", b"1")))
        clean(log, now_ms=now_ms)

    assert [b.header.base_offset for b in batches(log) if b.header.is_control] == [1]
