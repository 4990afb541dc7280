from pathlib import Path

import pytest

from kbroker.log.errors import CorruptLog
from kbroker.log.leader_epochs import LeaderEpochs
from tests.log.samples import FAST_DISK


def epochs_of(directory: Path, *entries: tuple[int, int]) -> LeaderEpochs:
    epochs = LeaderEpochs(FAST_DISK, str(directory))
    for epoch, start_offset in entries:
        epochs.assign(epoch, start_offset)
    return epochs


def entries(epochs: LeaderEpochs) -> list[tuple[int, int]]:
    return list(zip(epochs.epochs, epochs.start_offsets, strict=True))


def test_the_checkpoint_is_kafkas_and_comes_back(tmp_path: Path) -> None:
    """R8: an epoch is in the file as soon as it is assigned."""
    epochs_of(tmp_path, (0, 0), (3, 17))
    assert (tmp_path / "leader-epoch-checkpoint").read_text() == "0\n2\n0 0\n3 17\n"
    loaded = LeaderEpochs(FAST_DISK, str(tmp_path))
    loaded.load()
    assert entries(loaded) == [(0, 0), (3, 17)]


def test_an_epoch_that_has_begun_does_not_begin_again(tmp_path: Path) -> None:
    assert entries(epochs_of(tmp_path, (1, 5), (1, 9))) == [(1, 5)]


def test_entries_rise_in_both_fields(tmp_path: Path) -> None:
    """R9: an epoch without records goes when the next one begins at the same offset."""
    assert entries(epochs_of(tmp_path, (1, 5), (2, 5))) == [(2, 5)]
    assert entries(epochs_of(tmp_path, (1, 5), (4, 9), (3, 7))) == [(1, 5), (3, 7)]


def test_the_end_of_an_epoch_is_the_start_of_the_next(tmp_path: Path) -> None:
    """R7."""
    epochs = epochs_of(tmp_path, (2, 10), (4, 20), (7, 30))
    assert epochs.end_offset_for(7, 42) == (7, 42)
    assert epochs.end_offset_for(4, 42) == (4, 30)
    assert epochs.end_offset_for(5, 42) == (4, 30)
    assert epochs.end_offset_for(1, 42) == (1, 10)
    assert epochs.end_offset_for(8, 42) == (-1, -1)
    assert epochs.end_offset_for(-1, 42) == (-1, -1)


def test_an_offset_belongs_to_the_last_epoch_that_began(tmp_path: Path) -> None:
    epochs = epochs_of(tmp_path, (2, 10), (4, 20))
    assert [epochs.epoch_for(offset) for offset in (9, 10, 19, 20)] == [-1, 2, 2, 4]


def test_truncation_works_from_both_ends(tmp_path: Path) -> None:
    epochs = epochs_of(tmp_path, (2, 10), (4, 20), (7, 30))
    epochs.truncate_from_start(25)
    assert entries(epochs) == [(4, 25), (7, 30)]
    epochs.truncate_from_end(30)
    assert entries(epochs) == [(4, 25)]
    assert not epochs.is_saved


def test_a_checkpoint_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    for text in ("1\n0\n", "0\n2\n0 0\n", "0\n1\n0 x\n", "0\n1\n0 0 0\n", "\xff"):
        (tmp_path / "leader-epoch-checkpoint").write_text(text, encoding="latin-1")
        with pytest.raises(CorruptLog):
            LeaderEpochs(FAST_DISK, str(tmp_path)).load()
