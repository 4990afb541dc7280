from pathlib import Path

import pytest

from kbroker.log.time_index import NO_ENTRY, TimeEntry, TimeIndex, read_last_entry
from tests.log.samples import FAST_DISK


def test_an_entry_is_twelve_bytes_big_endian(tmp_path: Path) -> None:
    path = str(tmp_path / "timeindex")
    index = TimeIndex()
    index.append(1_750_000_000_000, 41)
    index.save(FAST_DISK, path)
    assert Path(path).read_bytes() == bytes.fromhex("000001977420dc00 00000029")
    assert read_last_entry(FAST_DISK, path, 12) == TimeEntry(1_750_000_000_000, 41)


def test_a_timestamp_that_does_not_rise_gets_no_entry() -> None:
    index = TimeIndex()
    for timestamp_ms, offset in ((10, 1), (10, 2), (9, 3), (11, 4)):
        index.append(timestamp_ms, offset)
    assert len(index) == 2
    assert index.last_entry() == TimeEntry(11, 4)


def test_lookup_finds_the_last_entry_at_or_before_the_timestamp() -> None:
    index = TimeIndex()
    index.append(10, 1)
    index.append(20, 2)
    found = [index.lookup(timestamp_ms) for timestamp_ms in (9, 10, 19, 20)]
    assert found == [NO_ENTRY, (10, 1), (10, 1), (20, 2)]


def test_truncation_drops_entries_by_offset_and_survives_saving(tmp_path: Path) -> None:
    path = str(tmp_path / "timeindex")
    index = TimeIndex()
    for number in range(1, 5):
        index.append(10 * number, number)
    index.save(FAST_DISK, path)
    index.truncate(3)
    index.append(100, 7)
    index.save(FAST_DISK, path)
    loaded = TimeIndex.load(FAST_DISK, path)
    assert (len(loaded), loaded.last_entry()) == (3, (100, 7))


@pytest.mark.parametrize(
    "data", [bytes(11), bytes.fromhex("000000000000000a 00000001") + bytes(12)]
)
def test_a_file_that_holds_no_rising_entries_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "timeindex"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"entries|rise"):
        TimeIndex.load(FAST_DISK, str(path))


def test_an_empty_file_has_no_last_entry(tmp_path: Path) -> None:
    assert read_last_entry(FAST_DISK, str(tmp_path / "none"), 0) == NO_ENTRY
