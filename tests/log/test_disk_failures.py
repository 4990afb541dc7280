"""Disks that are full, slow to say so, or broken (L4, L6, L10)."""

import errno
import os
from pathlib import Path

import pytest

from kbroker.log import Disk, DiskFailed, StorageError
from tests.log.samples import (
    NOW_MS,
    append,
    append_marker,
    batch,
    idempotent,
    offsets,
    open_log,
    topic_config,
)


class FailingDisk(Disk):
    """Takes ``room_bytes`` more bytes; fails to sync or truncate if told so."""

    def __init__(self) -> None:
        self.room_bytes = 1 << 40
        self.syncs = True
        self.truncates = True

    def write(self, file_descriptor: int, data: bytes) -> int:
        if self.room_bytes == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = super().write(file_descriptor, memoryview(data)[: self.room_bytes])
        self.room_bytes -= written
        return written

    def sync(self, file_descriptor: int) -> None:
        if not self.syncs:
            raise DiskFailed("fdatasync: Input/output error")

    def truncate(self, file_descriptor: int, size_bytes: int) -> None:
        if not self.truncates:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().truncate(file_descriptor, size_bytes)


@pytest.mark.parametrize("room_bytes", [0, 1, 100])
@pytest.mark.parametrize("before", [0, 3])
def test_a_full_disk_leaves_the_log_as_it_was(tmp_path: Path, room_bytes: int, before: int) -> None:
    """L10, P7: nothing of the batch stays, reads go on, and so do appends when there is room."""
    disk = FailingDisk()
    log = open_log(tmp_path, disk=disk)
    log.assign_epoch_start(0)
    for sequence in range(before):
        append(log, idempotent(sequence, b"v"))
    disk.room_bytes = room_bytes
    with pytest.raises(StorageError) as caught:
        append(log, idempotent(before, b"v" * 1000))
    assert caught.value.kafka_error == "KAFKA_STORAGE_ERROR"
    assert not isinstance(caught.value, DiskFailed)
    assert log.log_end_offset == before
    assert offsets(log) == [(number, number) for number in range(before)]
    disk.room_bytes = 1 << 40
    assert append(log, idempotent(before, b"v" * 1000)).first_offset == before
    log.close(clean=False)
    assert open_log(tmp_path, clean=False).log_end_offset == before + 1


@pytest.mark.parametrize("room_bytes", [0, 10, 30, 60])
def test_a_disk_that_fills_up_while_rolling_loses_nothing(tmp_path: Path, room_bytes: int) -> None:
    disk = FailingDisk()
    config = topic_config(segment_bytes=500, index_interval_bytes=100)
    log = open_log(tmp_path, config=config, disk=disk)
    append(log, batch(b"v" * 200), batch(b"v" * 100))
    disk.room_bytes = room_bytes
    with pytest.raises(StorageError):
        append(log, batch(b"v" * 200))
    assert log.log_end_offset == 2
    disk.room_bytes = 1 << 40
    assert append(log, batch(b"v" * 200)).first_offset == 2
    log.close(clean=True)
    assert offsets(open_log(tmp_path, config=config)) == [(0, 0), (1, 1), (2, 2)]


def test_a_new_epoch_that_cannot_be_written_has_not_begun(tmp_path: Path) -> None:
    """R8."""
    disk = FailingDisk()
    log = open_log(tmp_path, disk=disk)
    append(log, batch(), epoch=1)
    disk.room_bytes = 0
    with pytest.raises(StorageError):
        append(log, batch(), epoch=2)
    assert (log.latest_epoch, log.log_end_offset) == (1, 1)


def test_a_marker_that_is_not_indexed_freezes_the_last_stable_offset(tmp_path: Path) -> None:
    """L4: its offset is used up, and the transaction stays open until the marker comes again."""
    disk = FailingDisk()
    log = open_log(tmp_path, disk=disk)
    append(log, idempotent(0, b"t", is_transactional=True))
    disk.room_bytes = 78  # the marker, and nothing for the index
    with pytest.raises(StorageError):
        append_marker(log, committed=False)
    disk.room_bytes = 1 << 40
    log.on_high_watermark(log.log_end_offset)
    assert (log.log_end_offset, log.last_stable_offset(2)) == (2, 0)
    append_marker(log, committed=False)
    log.on_high_watermark(3)
    assert log.last_stable_offset(3) == 3
    assert log.aborted_transactions(0, 3) == [(7, 0)]


def test_a_failed_sync_is_fatal_and_moves_nothing(tmp_path: Path) -> None:
    """L6."""
    disk = FailingDisk()
    log = open_log(tmp_path, disk=disk)
    append(log, batch())
    job = log.flush_target()
    assert job is not None
    disk.syncs = False
    with pytest.raises(DiskFailed):
        job.run()
    assert log.recovery_point == 0
    with pytest.raises(DiskFailed):
        log.close(clean=True)


def test_a_write_that_cannot_be_undone_is_fatal(tmp_path: Path) -> None:
    disk = FailingDisk()
    log = open_log(tmp_path, disk=disk)
    append(log, batch())
    disk.room_bytes = 10
    disk.truncates = False
    with pytest.raises(DiskFailed):
        append(log, batch())


def test_the_real_disk_says_when_a_sync_failed(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()  # which cannot be synced
    try:
        with pytest.raises(DiskFailed):
            Disk().sync(write_end)
    finally:
        os.close(read_end)
        os.close(write_end)


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    """L5."""
    disk = FailingDisk()
    path = tmp_path / "file"
    disk.replace_file(str(path), b"old")
    disk.room_bytes = 1
    with pytest.raises(OSError, match="No space"):
        disk.replace_file(str(path), b"new")
    assert path.read_bytes() == b"old"


def test_opening_on_a_broken_disk_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "orders-3").write_text("a file where the directory should be")
    with pytest.raises(StorageError):
        open_log(tmp_path, now_ms=NOW_MS)
