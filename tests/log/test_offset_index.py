from pathlib import Path

import pytest

from kbroker.log.offset_index import OffsetIndex, read_last_position
from tests.log.samples import FAST_DISK


def index_of(*entries: tuple[int, int]) -> OffsetIndex:
    index = OffsetIndex()
    for relative_offset, position in entries:
        index.append(relative_offset, position)
    return index


def test_an_entry_is_eight_bytes_big_endian(tmp_path: Path) -> None:
    path = str(tmp_path / "index")
    index_of((5, 4200), (9, 8400)).save(FAST_DISK, path)
    expected = bytes.fromhex("00000005 00001068 00000009 000020d0")
    assert Path(path).read_bytes() == expected
    assert read_last_position(FAST_DISK, path) == 8400


def test_lookup_finds_the_last_entry_at_or_before_the_offset() -> None:
    index = index_of((5, 100), (9, 200), (20, 300))
    assert [index.lookup(offset) for offset in (0, 4, 5, 8, 9, 19, 20, 99)] == [
        *(0, 0, 100, 100, 200, 200, 300, 300)
    ]


def test_the_upper_bound_is_the_first_entry_at_or_behind_a_position() -> None:
    index = index_of((5, 100), (9, 200))
    assert [index.upper_bound(position) for position in (0, 100, 101, 201)] == [5, 5, 9, None]


def test_save_writes_only_what_is_new_and_forgets_what_was_truncated(tmp_path: Path) -> None:
    path = str(tmp_path / "index")
    index = index_of((5, 100), (9, 200), (20, 300))
    index.save(FAST_DISK, path)
    index.truncate(9)
    index.append(11, 250)
    index.save(FAST_DISK, path)

    loaded = OffsetIndex.load(FAST_DISK, path)
    assert len(loaded) == 2
    assert (loaded.lookup(10), loaded.lookup(11)) == (100, 250)


def test_an_empty_index_is_an_empty_file(tmp_path: Path) -> None:
    path = str(tmp_path / "index")
    OffsetIndex().save(FAST_DISK, path)
    assert Path(path).read_bytes() == b""
    assert OffsetIndex.load(FAST_DISK, path).last_position() == 0
    assert read_last_position(FAST_DISK, path) == 0


@pytest.mark.parametrize(
    "data",
    [
        bytes(7),
        bytes.fromhex("00000005 00000064") + bytes(16),  # a page of zeros behind an entry
        bytes.fromhex("ffffffff 00000064"),
    ],
)
def test_a_file_that_holds_no_rising_entries_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "index"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"entries|entry"):
        OffsetIndex.load(FAST_DISK, str(path))
