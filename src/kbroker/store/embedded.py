"""A store in one file of the data directory: the metadata of a broker that is alone.

Every round of transactions is appended to the file and brought to disk with one fdatasync, in a
thread, before anybody hears of it. When transactions have made the file much larger than what it
says, it is written anew beside itself, synced, and renamed over the old one; a crash leaves one
or the other. See `journal` for the bytes.

A disk without room is no failure: what a write left of itself is cut off, the transactions are
refused, and the next ones may fit. After a failed sync nothing is tried again (L6).

One process uses the file at a time; a lock file beside it sees to that. So leases live in memory,
and the keys of leases that a former process held are gone when the file is opened.
"""

import errno
import fcntl
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import trio

from kbroker.store.history import MAX_EVENTS
from kbroker.store.interface import Delete, StoreFull, StoreLocked, WatchBatch
from kbroker.store.journal import decode_file, encode_file, encode_frame
from kbroker.store.key_space import KeySpace
from kbroker.store.local_store import LocalStore

# Below this the file is left alone; reading a megabyte at start costs a few milliseconds.
MIN_REWRITE_BYTES = 1 << 20
# Rewritten when the transactions are this many times as long as the snapshot before them: each
# byte is then rewritten, on average, less than once.
REWRITE_FACTOR = 2

_UNFINISHED = ".tmp"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


@dataclass(slots=True)
class _File:
    """The open file, and how long its parts are."""

    descriptor: int
    snapshot_bytes: int
    journal_bytes: int


class EmbeddedStore(LocalStore):
    """A durable store for one process. Open it with `open`."""

    def __init__(
        self, path: str, keys: KeySpace, file: _File, lock: int, *, max_history_events: int
    ) -> None:
        super().__init__(keys, max_history_events=max_history_events)
        self._path = path
        self._file = file
        self._lock: int | None = lock  # None once everything is released
        # One thread at most, and never one that other work could be holding.
        self._limiter = trio.CapacityLimiter(1)
        self.cut_bytes = 0

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, max_history_events: int = MAX_EVENTS) -> Self:
        """Read the file, or create it; synchronous, for the time before the broker serves.

        What a crash left unfinished at the end is cut off and kept as ``<path>.cut``; ``cut_bytes``
        tells how much that was. StoreLocked if another process has it open, StoreDamaged if it is
        not a store's file or its beginning was changed, OSError as the disk says.
        """
        path = os.path.abspath(path)
        lock = _lock(path + ".lock")
        try:
            if not os.path.exists(path):
                _write_beside(path, encode_file(KeySpace()))
                _put_in_place(path)
            with open(path, "rb") as whole:
                data = whole.read()
            found = decode_file(data)
            if found.sound_bytes < len(data):
                _cut(path, data, found.sound_bytes)
            _drop_leased(found.keys)
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except BaseException:
            os.close(lock)
            raise
        file = _File(descriptor, found.snapshot_bytes, found.sound_bytes - found.snapshot_bytes)
        store = cls(path, found.keys, file, lock, max_history_events=max_history_events)
        store.cut_bytes = len(data) - found.sound_bytes
        return store

    async def aclose(self) -> None:
        """Wait for the round under way, close the file and let others have it."""
        await super().aclose()
        if self._lock is not None:
            os.close(self._file.descriptor)
            os.close(self._lock)
            self._lock = None

    async def _persist(self, batches: Sequence[WatchBatch]) -> None:
        frames = b"".join(encode_frame(batch.revision, batch.events) for batch in batches)
        await trio.to_thread.run_sync(self._write, frames, limiter=self._limiter)

    def _write(self, frames: bytes) -> None:
        """Runs in a thread, while the gate is held: nobody else touches the keys or the file."""
        file = self._file
        is_long = file.journal_bytes + len(frames) > max(
            MIN_REWRITE_BYTES, REWRITE_FACTOR * file.snapshot_bytes
        )
        # The keys contain what the frames say, so that a new file need not.
        if is_long and self._rewrite():
            return
        try:
            _write_all(file.descriptor, frames)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            os.ftruncate(file.descriptor, file.snapshot_bytes + file.journal_bytes)
            os.fdatasync(file.descriptor)
            raise StoreFull(f"{self._path}: {error.strerror}") from error
        os.fdatasync(file.descriptor)
        file.journal_bytes += len(frames)

    def _rewrite(self) -> bool:
        """Put a snapshot of all keys in the place of the file; False if there is no room for it."""
        snapshot = encode_file(self._keys)
        try:
            _write_beside(self._path, snapshot)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            os.unlink(self._path + _UNFINISHED)
            return False
        _put_in_place(self._path)
        os.close(self._file.descriptor)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        self._file = _File(descriptor, len(snapshot), 0)
        return True


def _drop_leased(keys: KeySpace) -> None:
    """Delete what hung on leases of a former process.

    It needs no place in the file: until something else is written, a crash only does it again.
    """
    keys.write([Delete(item.key) for item in keys.leased()])
    keys.keep()


def _lock(path: str) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise StoreLocked(f"another process uses this metadata store: {path} is locked") from error
    return descriptor


def _write_beside(path: str, data: bytes) -> None:
    """The first half of replacing a file in one step: on disk, under another name (L5)."""
    descriptor = os.open(
        path + _UNFINISHED, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644
    )
    try:
        _write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put_in_place(path: str) -> None:
    """The second half; on disk when this returns."""
    os.rename(path + _UNFINISHED, path)
    _sync_directory(path)


def _cut(path: str, data: bytes, sound: int) -> None:
    """Remove an unsound tail, so that nothing is appended after it; keep it for the curious."""
    with open(path + ".cut", "wb") as kept:
        kept.write(data[sound:])
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.ftruncate(descriptor, sound)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _sync_directory(path: str) -> None:
    descriptor = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
