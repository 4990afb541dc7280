"""Bytes that change on the platter long after they were flushed (L7, decision 10).

Whatever rots, a reader gets the batch it asked for or an error, never silently another one; what
is sound stays reachable and is never deleted; and nothing of the log itself is changed.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from kbroker.log import CorruptLog, PartitionLog
from kbroker.records import CorruptRecords, read_header
from tests.log.samples import (
    NOW_MS,
    append,
    append_marker,
    batch,
    content,
    idempotent,
    open_log,
    topic_config,
)

CONFIG = topic_config(segment_bytes=6000, index_interval_bytes=500, retention_ms=3_600_000)
BATCHES = 60
RECORDS = 3  # in each batch
END = BATCHES * RECORDS
FIRST = "00000000000000000000"

Damage = Callable[[bytearray, random.Random], None]


def written(directory: Path, *, clean: bool = True) -> PartitionLog:
    """A log of several segments, closed."""
    log = open_log(directory, config=CONFIG)
    for number in range(BATCHES):
        values = (b"v" * 100,) * RECORDS
        append(log, idempotent(number * RECORDS, *values, timestamp_ms=NOW_MS + number))
    log.close(clean)
    return log


def reopened(directory: Path, *, clean: bool = True, recovery_point: int = END) -> PartitionLog:
    return open_log(directory, config=CONFIG, clean=clean, recovery_point=recovery_point)


def spoil(path: Path, damage: Callable[[bytearray], None]) -> bytes:
    """Damage a file where it lies; its bytes from then on."""
    data = bytearray(path.read_bytes())
    damage(data)
    path.write_bytes(data)
    return bytes(data)


def flip(data: bytearray, dice: random.Random) -> None:
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def zero(data: bytearray, dice: random.Random) -> None:
    start = dice.randrange(len(data))
    end = min(len(data), start + dice.randrange(1, len(data)))
    data[start:end] = bytes(end - start)


def scramble(data: bytearray, dice: random.Random) -> None:
    start = dice.randrange(len(data))
    end = min(len(data), start + dice.randrange(1, len(data)))
    data[start:end] = dice.randbytes(end - start)


def served(log: PartitionLog, offset: int) -> range | None:
    """The offsets of the batch that a reader gets first; None for an error."""
    try:
        data = content(log.read(offset, 1, up_to=log.log_end_offset))
    except CorruptRecords:
        return None
    header = read_header(data)
    return range(header.base_offset, header.next_offset)


@pytest.mark.parametrize("damage", [flip, zero, scramble])
def test_a_rotten_offset_index_costs_nobody_a_record(tmp_path: Path, damage: Damage):
    written(tmp_path)
    path = tmp_path / "orders-3" / f"{FIRST}.index"
    good = path.read_bytes()
    for seed in range(60):
        dice = random.Random(seed)
        spoil(path, lambda data, dice=dice: damage(data, dice))
        log = reopened(tmp_path)
        for offset in range(log.segments[1].base_offset):
            found = served(log, offset)
            assert found is not None, (seed, offset)
            assert offset in found, (seed, offset)
        log.close(clean=True)
        path.write_bytes(good)


@pytest.mark.parametrize("damage", [flip, zero, scramble])
def test_a_rotten_time_index_deletes_nothing_and_finds_the_right_offset(
    tmp_path: Path, damage: Damage
):
    written(tmp_path)
    path = tmp_path / "orders-3" / f"{FIRST}.timeindex"
    good = path.read_bytes()
    for seed in range(60):
        dice = random.Random(seed)
        spoil(path, lambda data, dice=dice: damage(data, dice))
        log = reopened(tmp_path)
        assert log.delete_old_segments(END, NOW_MS + 1000) == []
        for number in range(0, log.segments[1].base_offset // RECORDS, 3):
            found = log.offset_for_timestamp(NOW_MS + number, up_to=END)
            # An entry that points to an earlier batch than it should is slow; a later one is wrong.
            assert found is not None, (seed, number)
            assert found.offset == number * RECORDS, (seed, number)
        log.close(clean=True)
        path.write_bytes(good)


def test_a_zeroed_piece_of_a_segment_is_an_error_there_and_nowhere_else(tmp_path: Path):
    log = written(tmp_path)
    path = Path(log.segments[1].path())
    first = log.segments[1].base_offset
    positions = [position for position, _ in log.segments[1].file.headers(0, path.stat().st_size)]
    # From the middle of one batch to the middle of another, with the header of all between.
    start, stop = positions[3] + 200, positions[6] + 200
    rotten = spoil(path, lambda data: data.__setitem__(slice(start, stop), bytes(stop - start)))

    log = reopened(tmp_path)

    unreadable = range(first + 4 * RECORDS, first + 7 * RECORDS)
    for offset in range(END):
        found = served(log, offset)
        if offset in unreadable:
            assert found is None
        else:
            assert found is not None
            assert offset in found
    assert path.read_bytes() == rotten
    assert log.log_end_offset == END


@pytest.mark.parametrize("damage", [flip, zero, scramble])
def test_whatever_rots_in_a_segment_no_reader_is_led_past_records(tmp_path: Path, damage: Damage):
    log = written(tmp_path)
    path = Path(log.segments[1].path())
    good = path.read_bytes()
    first, end = log.segments[1].base_offset, log.segments[2].base_offset
    for seed in range(40):
        dice = random.Random(seed)

        def spoil_all_but_offsets(data: bytearray, dice: random.Random = dice) -> None:
            """Whoever walks over headers checks no CRC, so wrong offsets in a header that is
            sound otherwise are found by the reader of that batch alone."""
            damage(data, dice)
            for position in range(0, len(good), len(good) // ((end - first) // RECORDS)):
                for start, stop in ((position, position + 8), (position + 23, position + 27)):
                    data[start:stop] = good[start:stop]

        rotten = spoil(path, spoil_all_but_offsets)
        log = reopened(tmp_path)
        for offset in (*range(first), *range(end, END)):
            found = served(log, offset)
            assert found is not None
            assert offset in found
        for offset in range(first, end):
            found = served(log, offset)
            assert found is None or found.start <= offset, (seed, offset)
        assert path.read_bytes() == rotten
        log.close(clean=True)
        path.write_bytes(good)


def test_recovery_cuts_nothing_behind_rot_that_no_crash_has_done(tmp_path: Path):
    log = written(tmp_path, clean=False)
    active = log.segments.active
    path, first = Path(active.path()), active.base_offset
    size_bytes = path.stat().st_size // ((END - first) // RECORDS)
    # The second batch of the last segment loses its header.
    rotten = spoil(
        path, lambda data: data.__setitem__(slice(size_bytes, size_bytes + 61), bytes(61))
    )

    log = reopened(tmp_path, clean=False, recovery_point=first + 3 * RECORDS)

    assert log.log_end_offset == END
    assert path.read_bytes() == rotten
    assert served(log, first + RECORDS) is None
    assert served(log, first + 2 * RECORDS) == range(first + 2 * RECORDS, first + 3 * RECORDS)
    # The producer goes on where it was.
    appended = append(log, idempotent(END, b"more", timestamp_ms=NOW_MS))
    assert appended.first_offset == END


def test_what_a_crash_may_have_torn_is_cut_as_ever(tmp_path: Path):
    log = written(tmp_path, clean=False)
    active = log.segments.active
    path, first = Path(active.path()), active.base_offset
    size_bytes = path.stat().st_size // ((END - first) // RECORDS)
    spoil(path, lambda data: data.__setitem__(slice(size_bytes, size_bytes + 61), bytes(61)))

    log = reopened(tmp_path, clean=False, recovery_point=first)

    assert log.log_end_offset == first + RECORDS


def test_after_a_clean_stop_rot_in_the_last_segment_takes_only_what_it_covers(tmp_path: Path):
    log = written(tmp_path)
    active = log.segments.active
    path, first = Path(active.path()), active.base_offset
    count = (END - first) // RECORDS
    size_bytes = path.stat().st_size // count
    # The last index entry points before it, so that the log end cannot be found by walking.
    start = (count - 2) * size_bytes
    spoil(path, lambda data: data.__setitem__(slice(start, start + 61), bytes(61)))

    log = reopened(tmp_path)

    assert log.log_end_offset == END
    assert served(log, END - 1) == range(END - RECORDS, END)
    assert served(log, END - 2 * RECORDS) is None


def test_producers_are_replayed_over_rot(tmp_path: Path):
    log = written(tmp_path)
    path = Path(log.segments[0].path())
    spoil(path, lambda data: data.__setitem__(slice(0, 600), bytes(600)))
    for snapshot in (tmp_path / "orders-3").glob("*.snapshot"):
        snapshot.unlink()

    log = reopened(tmp_path)

    assert log.log_end_offset == END
    assert append(log, idempotent(END, b"more")).first_offset == END


def test_without_its_transaction_index_nobody_is_told_what_is_committed(tmp_path: Path):
    log = open_log(tmp_path, config=CONFIG)
    append(log, idempotent(0, b"v", is_transactional=True))
    append_marker(log, committed=False)
    append(log, batch(b"w"))
    log.close(clean=True)
    path = tmp_path / "orders-3" / f"{FIRST}.txnindex"
    spoil(path, lambda data: data.__setitem__(0, 9))  # a version that nobody knows

    log = reopened(tmp_path)

    with pytest.raises(CorruptLog, match="later version"):
        log.aborted_transactions(0, 3)
