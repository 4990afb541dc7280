from pathlib import Path

import pytest

from kbroker.log.errors import StorageError
from kbroker.log.transaction_index import AbortedEntry, TransactionIndex
from tests.log.samples import FAST_DISK

FIRST = AbortedEntry(7, 10, 15, 12)
SECOND = AbortedEntry(8, 12, 30, 31)


def test_an_entry_is_34_bytes_and_comes_back(tmp_path: Path) -> None:
    path = str(tmp_path / "txnindex")
    index = TransactionIndex(FAST_DISK, path)
    index.append(FIRST)
    index.append(SECOND)
    data = Path(path).read_bytes()
    assert len(data) == 68
    assert data[:10] == bytes.fromhex("0000 0000000000000007")
    assert TransactionIndex.load(FAST_DISK, path).entries == [FIRST, SECOND]


def test_a_missing_file_holds_no_transactions(tmp_path: Path) -> None:
    assert TransactionIndex.load(FAST_DISK, str(tmp_path / "none")).entries == []


def test_the_search_ends_where_nothing_more_can_overlap(tmp_path: Path) -> None:
    """T10: the last stable offset of an entry says that all before it is decided."""
    index = TransactionIndex(FAST_DISK, "unused", [FIRST, SECOND])
    assert index.overlapping(0, 11) == ([FIRST], True)
    assert index.overlapping(0, 13) == ([FIRST, SECOND], True)
    assert index.overlapping(16, 40) == ([SECOND], False)
    assert index.overlapping(31, 40) == ([], False)


def test_truncation_drops_the_markers_behind_an_offset(tmp_path: Path) -> None:
    path = tmp_path / "txnindex"
    index = TransactionIndex(FAST_DISK, str(path))
    index.append(FIRST)
    index.append(SECOND)
    index.truncate(30)
    assert TransactionIndex.load(FAST_DISK, str(path)).entries == [FIRST]
    index.truncate(0)
    assert not path.exists()


def test_a_full_disk_leaves_no_entry(tmp_path: Path) -> None:
    index = TransactionIndex(FAST_DISK, str(tmp_path / "no such directory" / "txnindex"))
    with pytest.raises(StorageError):
        index.append(FIRST)
    assert index.entries == []


@pytest.mark.parametrize("data", [bytes(33), b"\x00\x01" + bytes(32)])
def test_a_file_of_another_shape_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "txnindex"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="aborted transaction"):
        TransactionIndex.load(FAST_DISK, str(path))
