"""Starts after clean stops, crashes and accidents (L2, L3, L5, L8, P8)."""

from pathlib import Path

import pytest

from kbroker.log import InconsistentTopicId, PartitionLog
from kbroker.log.offset_index import OffsetIndex
from kbroker.model import Uuid
from tests.log.samples import (
    DEFAULTS,
    FAST_DISK,
    NOW_MS,
    ORDERS,
    append,
    append_marker,
    batch,
    idempotent,
    offsets,
    open_log,
    read_all,
    topic_config,
)

CONFIG = topic_config(segment_bytes=1000, index_interval_bytes=200)
FIRST = "00000000000000000000"


def written(directory: Path, *, clean: bool) -> PartitionLog:
    """A log of 20 batches in several segments, closed."""
    log = open_log(directory, config=CONFIG)
    for number in range(20):
        append(log, batch(b"v" * 100, timestamp_ms=NOW_MS + number))
    log.close(clean)
    return log


def partition(directory: Path) -> Path:
    return directory / "orders-3"


def test_a_clean_start_reads_no_batches_but_the_last(tmp_path: Path) -> None:
    written(tmp_path, clean=True)
    path = partition(tmp_path) / f"{FIRST}.log"
    data = bytearray(path.read_bytes())
    data[30] ^= 1
    path.write_bytes(data)
    log = open_log(tmp_path, config=CONFIG, clean=True)
    assert (log.log_end_offset, log.recovery_point) == (20, 20)


def test_an_unclean_start_cuts_at_the_first_bad_batch_and_drops_what_follows(
    tmp_path: Path,
) -> None:
    """L3."""
    log = written(tmp_path, clean=False)
    second = log.segments[1]
    path = Path(second.path())
    data = bytearray(path.read_bytes())
    data[170 * 2 + 100] ^= 1  # in the third batch of the second segment
    path.write_bytes(data)
    log = open_log(tmp_path, config=CONFIG, clean=False)
    assert log.log_end_offset == second.base_offset + 2
    assert len(log.segments) == 2
    assert [header.base_offset for header in read_all(log)] == list(range(log.log_end_offset))
    assert append(log, batch()).first_offset == second.base_offset + 2


def test_below_the_recovery_point_nothing_is_checked(tmp_path: Path) -> None:
    log = written(tmp_path, clean=False)
    path = Path(log.segments[0].path())
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    log = open_log(tmp_path, config=CONFIG, clean=False, recovery_point=6)
    assert log.log_end_offset == 20


def test_a_flushed_batch_that_is_damaged_takes_no_other_with_it(tmp_path: Path) -> None:
    """L7: also in the segment that the recovery point lies in, which is read from its start."""
    log = written(tmp_path, clean=False)
    path = Path(log.segments[1].path())
    first_offset = log.segments[1].base_offset
    data = bytearray(path.read_bytes())
    data[170 + 100] ^= 1
    path.write_bytes(data)
    log = open_log(tmp_path, config=CONFIG, clean=False, recovery_point=first_offset + 2)
    assert log.log_end_offset == 20
    assert path.read_bytes() == data
    unflushed = open_log(tmp_path, config=CONFIG, clean=False, recovery_point=first_offset + 1)
    assert unflushed.log_end_offset == first_offset + 1


def test_recovery_does_not_move_the_recovery_point(tmp_path: Path) -> None:
    """L2."""
    written(tmp_path, clean=False)
    assert open_log(tmp_path, config=CONFIG, clean=False, recovery_point=3).recovery_point == 3
    assert open_log(tmp_path, config=CONFIG, clean=False, recovery_point=99).recovery_point == 20


@pytest.mark.parametrize("kind", ["index", "timeindex"])
@pytest.mark.parametrize("damage", ["missing", "cut", "zeros"])
def test_a_damaged_index_is_built_anew(tmp_path: Path, kind: str, damage: str) -> None:
    written(tmp_path, clean=True)
    path = partition(tmp_path) / f"{FIRST}.{kind}"
    before = path.read_bytes()
    assert before
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(before[:-1])
    else:
        path.write_bytes(before + bytes(24))
    log = open_log(tmp_path, config=CONFIG, clean=True)
    assert offsets(log) == [(number, number) for number in range(20)]
    found = log.offset_for_timestamp(NOW_MS + 3, up_to=20)
    assert found is not None
    assert found.offset == 3
    if damage != "zeros":  # which is only noticed by those who read the index
        assert path.read_bytes() == before


def test_an_index_that_lost_entries_is_slow_but_right(tmp_path: Path) -> None:
    written(tmp_path, clean=True)
    path = partition(tmp_path) / f"{FIRST}.index"
    path.write_bytes(path.read_bytes()[:8])
    log = open_log(tmp_path, config=CONFIG, clean=True)
    assert offsets(log) == [(number, number) for number in range(20)]


def test_an_unclean_start_builds_the_same_indexes(tmp_path: Path) -> None:
    written(tmp_path, clean=True)
    indexes = sorted(partition(tmp_path).glob("*index"))
    before = {path.name: path.read_bytes() for path in indexes}
    for path in indexes:
        path.unlink()
    open_log(tmp_path, config=CONFIG, clean=False)
    assert {p.name: p.read_bytes() for p in sorted(partition(tmp_path).glob("*index"))} == before


@pytest.mark.parametrize(
    "tail", [b"\x00" * 5000, b"\xff" * 61, b"\x01" * 3, bytes(8) + b"\x7f" * 60]
)
@pytest.mark.parametrize("clean", [True, False])
def test_garbage_behind_the_last_batch_is_cut_off(tmp_path: Path, tail: bytes, clean: bool) -> None:
    log = written(tmp_path, clean=True)
    path = Path(log.segments.active.path())
    size_bytes = path.stat().st_size
    with path.open("ab") as file:
        file.write(tail)
    log = open_log(tmp_path, config=CONFIG, clean=clean)
    assert log.log_end_offset == 20
    assert path.stat().st_size == size_bytes
    assert append(log, batch()).first_offset == 20


def test_a_page_of_zeros_in_the_middle_ends_the_log_there(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    for _ in range(10):
        append(log, batch(b"v" * 3000))
    log.close(clean=False)
    path = partition(tmp_path) / f"{FIRST}.log"
    data = bytearray(path.read_bytes())
    data[8192:12288] = bytes(4096)
    path.write_bytes(data)
    log = open_log(tmp_path, clean=False)
    assert log.log_end_offset == 2
    assert path.stat().st_size == 2 * len(batch(b"v" * 3000))


def test_an_index_without_its_log_is_removed(tmp_path: Path) -> None:
    written(tmp_path, clean=True)
    stray = partition(tmp_path) / "00000000000000000007.index"
    stray.write_bytes(bytes(8))
    open_log(tmp_path, config=CONFIG)
    assert not stray.exists()


def test_what_was_about_to_be_deleted_or_cleaned_is_removed(tmp_path: Path) -> None:
    """L8."""
    written(tmp_path, clean=True)
    for name in (f"{FIRST}.log.deleted", f"{FIRST}.log.cleaned", f"{FIRST}.index.cleaned"):
        (partition(tmp_path) / name).write_bytes(b"half")
    log = open_log(tmp_path, config=CONFIG)
    assert log.log_end_offset == 20
    assert not [
        path for path in partition(tmp_path).iterdir() if path.suffix in (".deleted", ".cleaned")
    ]


def test_a_complete_swap_takes_the_place_of_the_segments_it_covers(tmp_path: Path) -> None:
    """L8: compaction had renamed its result to .swap and not yet removed what it replaces."""
    log = written(tmp_path, clean=True)
    first, second = log.segments[0], log.segments[1]
    end = log.segments[2].base_offset
    kept = Path(first.path()).read_bytes()[:170] + Path(second.path()).read_bytes()[-170:]
    (partition(tmp_path) / f"{FIRST}.log.swap").write_bytes(kept)
    log = open_log(tmp_path, config=CONFIG)
    assert log.segments[1].base_offset == end
    assert [header.base_offset for header in read_all(log)] == [0, end - 1, *range(end, 20)]
    assert not list(partition(tmp_path).glob("*.swap"))


def test_a_spoiled_snapshot_is_passed_over(tmp_path: Path) -> None:
    """L5, P8."""
    log = open_log(tmp_path, config=CONFIG)
    for sequence in range(20):
        append(log, idempotent(sequence, b"v" * 100))
    before = log.active_producers()
    log.close(clean=True)
    snapshots = sorted(partition(tmp_path).glob("*.snapshot"))
    assert len(snapshots) > 2
    for path in snapshots[-2:]:
        path.write_bytes(path.read_bytes()[:-3])
    log = open_log(tmp_path, config=CONFIG)
    assert log.active_producers() == before


def test_a_spoiled_transaction_index_is_replayed(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, idempotent(0, b"a", is_transactional=True))
    append_marker(log, committed=False)
    log.close(clean=True)
    path = partition(tmp_path) / f"{FIRST}.txnindex"
    before = path.read_bytes()
    path.write_bytes(before[:20])
    log = open_log(tmp_path, clean=True)
    assert log.aborted_transactions(0, 2) == [(7, 0)]
    assert path.read_bytes() == before


def test_epochs_behind_the_log_end_are_dropped(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, batch(), epoch=2)
    log.assign_epoch_start(5)
    log.close(clean=True)
    log = open_log(tmp_path)
    assert (log.latest_epoch, log.end_offset_for_epoch(2)) == (2, (2, 1))


def test_recovery_finds_the_epochs_in_the_batches(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    append(log, batch(), epoch=2)
    append(log, batch(), epoch=4)
    log.close(clean=False)
    (partition(tmp_path) / "leader-epoch-checkpoint").unlink()
    log = open_log(tmp_path, clean=False)
    assert log.end_offset_for_epoch(3) == (2, 1)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("content", [None, b"", b"0\n2\n2 0\n", b"\xff" * 20])
def test_epochs_that_are_missing_or_damaged_are_found_in_the_batches(
    tmp_path: Path, content: bytes | None, clean: bool
) -> None:
    """L5: also those of batches below the recovery point, and after a clean stop."""
    log = open_log(tmp_path)
    append(log, batch(), epoch=2)
    append(log, batch(), epoch=4)
    log.close(clean)
    checkpoint = partition(tmp_path) / "leader-epoch-checkpoint"
    checkpoint.unlink() if content is None else checkpoint.write_bytes(content)
    log = open_log(tmp_path, recovery_point=2, clean=clean)
    assert (log.end_offset_for_epoch(3), log.log_end_offset) == ((2, 1), 2)
    assert checkpoint.read_text() == "0\n2\n2 0\n4 1\n"


def test_an_unclean_start_writes_no_epochs_that_it_has_only_read(tmp_path: Path) -> None:
    """A thousand idle partitions would wait for two thousand syncs."""
    written(tmp_path, clean=False)
    checkpoint = partition(tmp_path) / "leader-epoch-checkpoint"
    before = checkpoint.stat()
    open_log(tmp_path, config=CONFIG)
    assert checkpoint.stat() == before


def test_a_new_log_is_closed_without_a_sync_and_starts_clean(tmp_path: Path) -> None:
    """A thousand partitions that nobody wrote to must not hold up a shutdown."""
    log = open_log(tmp_path)
    before = {path.name for path in partition(tmp_path).iterdir()}
    log.close(clean=True)
    assert {path.name for path in partition(tmp_path).iterdir()} == before
    log = open_log(tmp_path, clean=True)
    assert (log.log_end_offset, log.recovery_point) == (0, 0)
    assert append(log, batch()).first_offset == 0
    log.close(clean=True)
    assert open_log(tmp_path, clean=True).log_end_offset == 1


def test_a_crash_makes_no_strangers_of_the_last_five_batches(tmp_path: Path) -> None:
    """P1, P8: what was in flight when a broker was killed is sent again, oldest first."""
    log = open_log(tmp_path)
    for sequence in range(7):
        append(log, idempotent(sequence))
    log.close(clean=False)
    for _ in range(2):
        log = open_log(tmp_path, clean=False)
        for sequence in range(2, 7):
            again = append(log, idempotent(sequence))
            assert (again.duplicate, again.first_offset) == (True, sequence)
        log.close(clean=False)


def test_a_log_start_behind_the_log_end_begins_anew(tmp_path: Path) -> None:
    """The files were deleted by hand, and the checkpoint knows better."""
    written(tmp_path, clean=True)
    log = open_log(tmp_path, config=CONFIG, log_start_offset=50)
    assert (log.log_start_offset, log.log_end_offset) == (50, 50)
    assert append(log, batch()).first_offset == 50


def test_a_directory_of_another_topic_is_refused(tmp_path: Path) -> None:
    written(tmp_path, clean=True)
    with pytest.raises(InconsistentTopicId):
        PartitionLog.open(
            str(partition(tmp_path)),
            topic_partition=ORDERS,
            topic_id=Uuid(bytes(16)),
            config=DEFAULTS,
            now_ms=NOW_MS,
        )


def test_an_open_log_without_use_holds_no_descriptor_and_no_index(tmp_path: Path) -> None:
    written(tmp_path, clean=True)
    log = open_log(tmp_path, config=CONFIG)
    assert all(segment._file is None for segment in log.segments)
    assert all(segment._offset_index is None for segment in log.segments)
    assert len(OffsetIndex.load(FAST_DISK, log.segments[0].path(".index"))) > 0
