"""The only door from this package to the file system.

Thin methods over ``os``, in the words of the log. Tests put a disk in its place that fails on
demand or remembers what a power cut would leave; so everything that changes a file comes through
here, and whoever adds a method keeps it that small.

What survives a power cut: the bytes of a file after `sync`, its name after `sync_directory` of its
parent (L1). `replace_file` does both in the order that never leaves half a file (L5).
"""

import contextlib
import os
from collections.abc import Iterator

from kbroker.log.errors import DiskFailed, StorageError
from kbroker.records import Buffer

_READ = os.O_RDONLY | os.O_CLOEXEC
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC


class Disk:
    """The real file system. Raises OSError, and DiskFailed where bytes may be lost for good."""

    __slots__ = ()

    def open_reading(self, path: str) -> int:
        """A descriptor to read from; FileNotFoundError if there is no such file."""
        return os.open(path, _READ)

    def open_appending(self, path: str, *, create: bool = False) -> int:
        """A descriptor whose writes all go to the end of the file."""
        return os.open(path, _APPEND | os.O_CREAT if create else _APPEND, 0o644)

    def open_directory(self, path: str) -> int:
        """A descriptor to `sync` the names in a directory with."""
        return os.open(path, _READ | os.O_DIRECTORY)

    def close(self, file_descriptor: int) -> None:
        """Give the descriptor back."""
        os.close(file_descriptor)

    def write(self, file_descriptor: int, data: Buffer) -> int:
        """How many of the bytes were written, from the first on."""
        return os.write(file_descriptor, data)

    def read(self, file_descriptor: int, length: int, position: int) -> bytes:
        """Bytes from ``position`` on; fewer than ``length`` where the file ends."""
        return os.pread(file_descriptor, length, position)

    def truncate(self, file_descriptor: int, size_bytes: int) -> None:
        """Cut the file off behind ``size_bytes``."""
        os.ftruncate(file_descriptor, size_bytes)

    def sync(self, file_descriptor: int) -> None:
        """Bring the bytes of the file to the platter; DiskFailed if that did not work (L6)."""
        try:
            os.fdatasync(file_descriptor)
        except OSError as error:
            raise DiskFailed(f"fdatasync: {error}") from error

    def sync_directory(self, path: str) -> None:
        """Bring the names in a directory to the platter; DiskFailed if that did not work."""
        file_descriptor = self.open_directory(path)
        try:
            self.sync(file_descriptor)
        finally:
            self.close(file_descriptor)

    def files(self, directory: str) -> dict[str, int]:
        """The names of the files in a directory and their sizes."""
        with os.scandir(directory) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}

    def directories(self, directory: str) -> list[str]:
        """The names of the directories in a directory."""
        with os.scandir(directory) as entries:
            return [entry.name for entry in entries if entry.is_dir()]

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory of this name."""
        return os.path.exists(path)

    def size_bytes(self, path: str) -> int:
        """The size of a file; FileNotFoundError if there is none."""
        return os.stat(path).st_size

    def modified_ms(self, path: str) -> int:
        """When the file was last written, in wall clock milliseconds."""
        return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified_ms(self, path: str, timestamp_ms: int) -> None:
        """Let the file look as if it was last written then."""
        os.utime(path, ns=(timestamp_ms * 1_000_000,) * 2)

    def make_directory(self, path: str) -> None:
        """Create a directory and those above it; nothing happens if it is there."""
        os.makedirs(path, exist_ok=True)

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""
        os.rmdir(path)

    def rename(self, old: str, new: str) -> None:
        """Give a file or directory another name, over a file that has it."""
        os.rename(old, new)

    def unlink(self, path: str) -> None:
        """Remove a file; nothing happens if it is gone already."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    # What follows is made of the above, so that a disk of tests sees each step.

    def read_file(self, path: str) -> bytes:
        """All bytes of a file; FileNotFoundError if there is none."""
        file_descriptor = self.open_reading(path)
        try:
            pieces = []
            position = 0
            while piece := self.read(file_descriptor, 1 << 20, position):
                pieces.append(piece)
                position += len(piece)
            return b"".join(pieces)
        finally:
            self.close(file_descriptor)

    def write_file(self, path: str, data: bytes, *, sync: bool) -> None:
        """Write a whole file anew, in place; a crash may leave a part of it."""
        file_descriptor = self.open_appending(path, create=True)
        try:
            self.truncate(file_descriptor, 0)
            self.write_all(file_descriptor, data)
            if sync:
                self.sync(file_descriptor)
        finally:
            self.close(file_descriptor)

    def replace_file(self, path: str, data: bytes) -> None:
        """Write a whole file anew so that a crash leaves the old one or the new one (L5)."""
        temporary = path + ".tmp"
        self.write_file(temporary, data, sync=True)
        self.rename(temporary, path)
        self.sync_directory(os.path.dirname(path))

    def write_all(self, file_descriptor: int, data: Buffer) -> None:
        """Write all bytes, in as many pieces as the kernel likes; OSError if it stops."""
        view = memoryview(data)
        while view:
            view = view[self.write(file_descriptor, view) :]


REAL_DISK = Disk()


@contextlib.contextmanager
def storage_errors(path: str) -> Iterator[None]:
    """Let what the disk complains about come out as a StorageError about ``path``."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path}: {error}") from error
