"""A disk that remembers everything, so that a power cut can be tried after every operation.

`CrashDisk` does what `Disk` does, in a real directory, and writes down each change. `History`
replays the list and makes *images*: directories as a crash at that moment may leave them.

    image    names                               bytes
    -------  ----------------------------------  -----------------------------------------------
    killed   all: only the process died          all
    lost     those of the last directory sync    those of the last sync of the file
    named    all                                 those of the last sync of the file
    zeroed   all                                 sizes have grown, but what was not synced is zero
    torn     of each directory a random prefix   sizes after a random prefix of the changes, and of
             of the changes                      what was not synced random sectors

Names and sizes come to the platter in the order of the calls, as journaling file systems have it;
data does not. With ``shuffled`` names a random subset of the changes of names survives instead,
which is harsher than any file system in use.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple

from kbroker.log.disk import Disk

DIRECTORY = -1
SECTORS = (512, 4096)


class Created(NamedTuple):
    path: str
    file_id: int


class Wrote(NamedTuple):
    file_id: int
    position: int
    data: bytes


class Cut(NamedTuple):
    file_id: int
    size_bytes: int


class Renamed(NamedTuple):
    old: str
    new: str


class Removed(NamedTuple):
    path: str


class Synced(NamedTuple):
    file_id: int


class SyncedNames(NamedTuple):
    directory: str


Operation = Created | Wrote | Cut | Renamed | Removed | Synced | SyncedNames


class CrashDisk(Disk):
    """The real file system, with a list of all that was done to it; paths are below ``root``."""

    __slots__ = ("_files", "_open", "_sizes", "operations", "root")

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        self.operations: list[Operation] = []
        self._files: dict[str, int] = {}
        self._sizes: dict[int, int] = {}
        self._open: dict[int, int | str] = {}  # descriptor -> file id, or the path of a directory
        self._adopt()

    def _adopt(self) -> None:
        """Take what is there for durable."""
        for parent, directories, names in os.walk(self.root):
            for name in sorted(directories):
                self.operations.append(Created(self._relative(f"{parent}/{name}"), DIRECTORY))
            for name in sorted(names):
                file_id = self._create(f"{parent}/{name}")
                data = Path(parent, name).read_bytes()
                self._sizes[file_id] = len(data)
                self.operations += [Wrote(file_id, 0, data), Synced(file_id)]
            self.operations.append(SyncedNames(self._relative(parent)))

    def _relative(self, path: str) -> str:
        return os.path.relpath(path, self.root)

    def _create(self, path: str) -> int:
        file_id = len(self._sizes)
        self._files[self._relative(path)] = file_id
        self._sizes[file_id] = 0
        self.operations.append(Created(self._relative(path), file_id))
        return file_id

    def open_reading(self, path: str) -> int:
        file_descriptor = super().open_reading(path)
        self._open[file_descriptor] = self._files[self._relative(path)]
        return file_descriptor

    def open_appending(self, path: str, *, create: bool = False) -> int:
        is_new = not os.path.exists(path)
        file_descriptor = super().open_appending(path, create=create)
        if is_new:
            self._create(path)
        self._open[file_descriptor] = self._files[self._relative(path)]
        return file_descriptor

    def open_directory(self, path: str) -> int:
        file_descriptor = super().open_directory(path)
        self._open[file_descriptor] = self._relative(path)
        return file_descriptor

    def close(self, file_descriptor: int) -> None:
        del self._open[file_descriptor]
        super().close(file_descriptor)

    def write(self, file_descriptor: int, data: bytes) -> int:
        written = super().write(file_descriptor, data)
        file_id = self._open[file_descriptor]
        assert isinstance(file_id, int)
        if written:
            position = self._sizes[file_id]
            self.operations.append(Wrote(file_id, position, bytes(data[:written])))
            self._sizes[file_id] = position + written
        return written

    def truncate(self, file_descriptor: int, size_bytes: int) -> None:
        super().truncate(file_descriptor, size_bytes)
        file_id = self._open[file_descriptor]
        assert isinstance(file_id, int)
        if size_bytes != self._sizes[file_id]:
            self.operations.append(Cut(file_id, size_bytes))
            self._sizes[file_id] = size_bytes

    def sync(self, file_descriptor: int) -> None:
        opened = self._open[file_descriptor]
        self.operations.append(SyncedNames(opened) if isinstance(opened, str) else Synced(opened))

    def make_directory(self, path: str) -> None:
        if not os.path.exists(path):
            super().make_directory(path)
            self.operations.append(Created(self._relative(path), DIRECTORY))

    def rename(self, old: str, new: str) -> None:
        super().rename(old, new)
        old, new = self._relative(old), self._relative(new)
        self._files = move(self._files, old, new)
        self.operations.append(Renamed(old, new))

    def unlink(self, path: str) -> None:
        if os.path.exists(path):
            super().unlink(path)
            del self._files[self._relative(path)]
            self.operations.append(Removed(self._relative(path)))

    def remove_directory(self, path: str) -> None:
        super().remove_directory(path)
        self.operations.append(Removed(self._relative(path)))


def move(names: dict[str, int], old: str, new: str) -> dict[str, int]:
    """The names after a rename of a file or of a directory with all in it."""
    moved = {}
    for name, file_id in names.items():
        if name == old or name.startswith(old + "/"):
            moved[new + name[len(old) :]] = file_id
        elif name != new:
            moved.setdefault(name, file_id)
    return moved


@dataclass
class Content:
    """The bytes of one file: on the platter, and what was done to it since."""

    durable: bytes = b""
    live: bytearray = field(default_factory=bytearray)
    pending: list[Wrote | Cut] = field(default_factory=list)

    def change(self, operation: Wrote | Cut) -> None:
        self.pending.append(operation)
        _apply(self.live, operation, None)

    def sync(self) -> None:
        self.durable = bytes(self.live)
        self.pending.clear()

    def zeroed(self) -> bytes:
        image = bytearray(self.durable)
        for operation in self.pending:
            _apply(image, operation, b"")
        return bytes(image)

    def torn(self, random: Random) -> bytes:
        image = bytearray(self.durable)
        for operation in self.pending[: random.randint(0, len(self.pending))]:
            kept = None
            if isinstance(operation, Wrote) and random.random() < 0.5:
                kept = _tear(operation, random)
            _apply(image, operation, kept)
        return bytes(image)


def _apply(image: bytearray, operation: Wrote | Cut, data: bytes | None) -> None:
    """Change the bytes; with ``data``, that is what arrived of a write, and zeros for the rest."""
    if isinstance(operation, Cut):
        del image[operation.size_bytes :]
        image.extend(bytes(operation.size_bytes - len(image)))
        return
    arrived = operation.data if data is None else data.ljust(len(operation.data), b"\0")
    image.extend(bytes(max(0, operation.position - len(image))))
    image[operation.position : operation.position + len(arrived)] = arrived


def _tear(operation: Wrote, random: Random) -> bytes:
    """A write of which only some sectors arrived."""
    sector = random.choice(SECTORS)
    arrived = bytearray(operation.data)
    start = operation.position
    for first in range(start // sector * sector, start + len(arrived), sector):
        if random.random() < 0.5:
            low, high = max(0, first - start), min(len(arrived), first + sector - start)
            arrived[low:high] = bytes(high - low)
    return bytes(arrived)


Image = dict[str, bytes | None]  # path -> bytes, None for a directory


class History:
    """The state of the disk after some of the operations."""

    def __init__(self) -> None:
        self._live: dict[str, int] = {}
        self._durable: dict[str, int] = {}
        self._pending: dict[str, list[Created | Renamed | Removed]] = {}
        self._contents: dict[int, Content] = {}

    def apply(self, operation: Operation) -> None:
        match operation:
            case Wrote() | Cut():
                self._contents[operation.file_id].change(operation)
            case Synced():
                self._contents[operation.file_id].sync()
            case SyncedNames():
                for pending in self._pending.pop(operation.directory, []):
                    self._durable = _renamed(self._durable, pending)
            case Created() | Renamed() | Removed():
                if isinstance(operation, Created) and operation.file_id != DIRECTORY:
                    self._contents[operation.file_id] = Content()
                self._live = _renamed(self._live, operation)
                path = operation.new if isinstance(operation, Renamed) else operation.path
                self._pending.setdefault(os.path.dirname(path) or ".", []).append(operation)

    def killed(self) -> Image:
        return self._image(self._live, lambda content: bytes(content.live))

    def lost(self) -> Image:
        return self._image(self._durable, lambda content: content.durable)

    def named(self) -> Image:
        return self._image(self._live, lambda content: content.durable)

    def zeroed(self) -> Image:
        return self._image(self._live, Content.zeroed)

    def torn(self, random: Random, *, shuffled: bool = False) -> Image:
        names = self._durable
        for pending in self._pending.values():
            if shuffled:
                chosen = [operation for operation in pending if random.random() < 0.5]
            else:
                chosen = pending[: random.randint(0, len(pending))]
            for operation in chosen:
                names = _renamed(names, operation)
        return self._image(names, lambda content: content.torn(random))

    def images(self, random: Random, torn: int) -> Iterator[tuple[str, Image]]:
        """One image of each kind, and several torn ones."""
        yield "killed", self.killed()
        yield "lost", self.lost()
        yield "named", self.named()
        yield "zeroed", self.zeroed()
        for _ in range(torn):
            yield "torn", self.torn(random)

    def _image(self, names, content) -> Image:
        image: Image = {}
        for path in sorted(names):
            parent = os.path.dirname(path)
            if parent and parent not in image:
                continue  # its directory is not there
            file_id = names[path]
            image[path] = None if file_id == DIRECTORY else content(self._contents[file_id])
        return image


def _renamed(names: dict[str, int], operation: Created | Renamed | Removed) -> dict[str, int]:
    match operation:
        case Created():
            return names | {operation.path: operation.file_id}
        case Renamed():
            if operation.old not in names:
                return names
            return move(names, operation.old, operation.new)
        case Removed():
            return {path: file_id for path, file_id in names.items() if path != operation.path}


def put(image: Image, directory: Path) -> None:
    """Make the image real."""
    directory.mkdir(parents=True)
    for path, data in image.items():
        if data is None:
            (directory / path).mkdir()
        else:
            (directory / path).write_bytes(data)
