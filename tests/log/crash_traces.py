"""Something is done to a log, and then it is looked at through every crash on the way.

A `Trace` runs steps on a log on a `CrashDisk` and notes after each what is promised from then on.
`Trace.check` goes through all operations, makes images of the disk after each, opens the log in
every image as a start after a crash does, and holds it against the promises: what was flushed is
there, a row of batches without holes, none changed, the producers those of a full replay, and of
every key the value it had (L1 to L8, P8, C7).
"""

import hashlib
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from kbroker.config import TopicConfig
from kbroker.log import PartitionLog, assess
from kbroker.log.producer_state import ProducerState
from kbroker.records import Record, parse_records, read_header, scan_batches
from kbroker.records.control import read_marker
from tests.log.compacted import clean
from tests.log.crash_disk import CrashDisk, History, Image, put
from tests.log.samples import NOW_MS, open_log


@dataclass(frozen=True)
class Promise:
    """What is true from an operation on, until the next promise."""

    operations: int
    batches: tuple[bytes, ...]  # all that were ever written and not truncated
    flushed: int = 0
    first_base_offset: int = 0  # of the first segment
    compacted: bool = False

    @property
    def end(self) -> int:
        return read_header(self.batches[-1]).next_offset if self.batches else 0


class Trace:
    """Steps on one log, with notes."""

    def __init__(self, root: Path, config: TopicConfig) -> None:
        self.work = root
        self.config = config
        self.directory = root / "data"
        self.directory.mkdir()
        self.disk = CrashDisk(self.directory)
        self.promises = [Promise(0, ())]
        self._seen: set[tuple[bytes, int, bool]] = set()
        self.log = open_log(self.directory, config=config, disk=self.disk)
        self.note()

    # Steps.

    def append(self, *batches: bytearray, from_client: bool = True) -> None:
        for batch in batches:
            self.log.append(batch, leader_epoch=0, now_ms=NOW_MS, from_client=from_client)
            self.note(batches=(*self._last.batches, bytes(batch)))
        self.log.on_high_watermark(self.log.log_end_offset)

    def flush(self) -> None:
        self.log.flush()
        self.note()

    def roll(self) -> None:
        self.log.roll(NOW_MS)
        self.note()

    def truncate(self, offset: int) -> None:
        self.log.truncate_to(offset, now_ms=NOW_MS)
        kept = [batch for batch in self._last.batches if read_header(batch).base_offset < offset]
        self.note(batches=tuple(kept))

    def clean(self, now_ms: int) -> None:
        """A round of compaction, if there is anything to clean."""
        if assess(self.log, self.log.log_end_offset, now_ms) is None:
            return
        cleaned = clean(self.log, now_ms=now_ms, purge=False)
        self.note(compacted=True)
        for segment in cleaned.deleted_segments:
            segment.purge()

    def note(self, **changes: object) -> None:
        """Promise the new state; it holds for every image after the operations so far."""
        self.promises.append(
            replace(
                self._last,
                operations=len(self.disk.operations),
                flushed=self.log.recovery_point,
                first_base_offset=self.log.segments[0].base_offset,
                **changes,
            )
        )

    @property
    def _last(self) -> Promise:
        return self.promises[-1]

    # Crashes.

    def check(self, *, torn: int = 2, seed: int = 0, shuffled: bool = False, start: int = 0) -> int:
        """Try all crashes; how many different images there were."""
        random = Random(seed)
        history = History()
        for number in range(len(self.disk.operations) + 1):
            if number:
                history.apply(self.disk.operations[number - 1])
            if number < start:
                continue
            around = self._around(number)
            images = list(history.images(random, torn))
            if shuffled:
                images += [("shuffled", history.torn(random, shuffled=True)) for _ in range(torn)]
            for kind, image in images:
                self._check_image(image, around, f"{kind} after operation {number}", kind)
        return self.images_checked

    def _check_image(self, image: Image, around: Sequence[Promise], place: str, kind: str) -> None:
        known = (_digest(image), around[0].operations, kind == "killed")
        if known in self._seen:
            return
        self._seen.add(known)
        directory = self.work / "image"
        put(image, directory)
        try:
            log = open_log(
                directory,
                config=self.config,
                recovery_point=around[0].flushed,
                clean=False,
            )
            try:
                check_recovered(log, around, is_killed=kind == "killed")
            finally:
                log.close(clean=False)
        except AssertionError as error:
            names = "\n".join(f"{path}: {len(data or b'')}" for path, data in image.items())
            raise AssertionError(f"{place}: {error}\n{names}") from error
        finally:
            shutil.rmtree(directory)

    def check_interrupted_recovery(self, image: Image, number: int, random: Random) -> None:
        """Open an image, crash after every operation of that, and open what is left."""
        around = self._around(number)
        directory = self.work / "first"
        put(image, directory)
        disk = CrashDisk(directory)
        adopted = len(disk.operations)
        open_log(
            directory,
            config=self.config,
            recovery_point=around[0].flushed,
            clean=False,
            disk=disk,
        ).close(clean=False)
        history = History()
        for done, operation in enumerate(disk.operations, start=1):
            history.apply(operation)
            if done >= adopted:
                for left in (history.lost(), history.torn(random)):
                    place = f"operation {done - adopted} of a recovery after {number}"
                    self._check_image(left, around, place, "lost")
        shutil.rmtree(directory)

    @property
    def images_checked(self) -> int:
        """How many different ones there were."""
        return len(self._seen)

    def _around(self, number: int) -> Sequence[Promise]:
        """The promises that hold at an operation: the last one, and the one in the making."""
        before = max(n for n, promise in enumerate(self.promises) if promise.operations <= number)
        return self.promises[before : before + 2]


def check_recovered(log: PartitionLog, around: Sequence[Promise], *, is_killed: bool) -> None:
    """A log after a crash between two promises keeps both."""
    end = log.log_end_offset
    assert log.recovery_point <= end  # L2
    safe = min(promise.end if is_killed else promise.flushed for promise in around)
    assert end >= safe, f"{end} is before {safe}, which was safe"
    first = log.segments[0].base_offset
    if end > first or safe > first:
        assert first <= max(promise.first_base_offset for promise in around)
    found = raw_batches(log)
    assert not found or read_header(found[-1]).next_offset == end
    if any(promise.compacted for promise in around):
        _check_compacted(log, found, around)
    else:
        around = [promise for promise in around if found == _expected(promise, first, end)]
        assert around, f"{len(found)} batches that were never there together"
    _check_producers(log, around, end)


def raw_batches(log: PartitionLog) -> list[bytes]:
    """The bytes of all batches from the first segment on, below the log start too."""
    found: list[bytes] = []
    for segment in log.segments:
        data = log.disk.read_file(segment.path())
        found += [data[at : at + header.size_bytes] for at, header in scan_batches(data)]
    return found


def _expected(promise: Promise, first: int, end: int) -> list[bytes]:
    return [
        batch
        for batch in promise.batches
        if read_header(batch).base_offset >= first and read_header(batch).last_offset < end
    ]


def _check_compacted(log: PartitionLog, found: list[bytes], around: Sequence[Promise]) -> None:
    """What is left are records that were there, and the value of each key is what it was (C7)."""
    originals = {}
    for batch in around[-1].batches:
        header = read_header(batch)
        for record in parse_records(batch, header):
            originals[record.offset] = (record.key, record.value, record.timestamp_ms)
    last_offset = -1
    for batch in found:
        header = read_header(batch)
        assert header.base_offset > last_offset, "offsets rise"
        last_offset = header.last_offset
        for record in parse_records(batch, header):
            found_record = (record.key, record.value, record.timestamp_ms)
            assert found_record == originals[record.offset]
    end = log.log_end_offset
    expected = [batch for batch in around[-1].batches if read_header(batch).last_offset < end]
    assert committed_values(found) == committed_values(expected)


def committed_values(batches: Sequence[bytes]) -> dict[bytes, bytes]:
    """The value of each key by what is committed in these batches; tombstones delete."""
    values: dict[bytes, bytes] = {}
    records = []
    open_records: dict[int, list[Record]] = {}
    for batch in batches:
        header = read_header(batch)
        if header.is_control:
            marker = read_marker(batch, header)
            decided = open_records.pop(header.producer_id, [])
            records += decided if marker is not None and marker.committed else []
        elif header.is_transactional:
            open_records.setdefault(header.producer_id, []).extend(parse_records(batch, header))
        else:
            records += parse_records(batch, header)
    for record in sorted(records, key=lambda record: record.offset):
        assert record.key is not None
        if record.value is None:
            values.pop(record.key, None)
        else:
            values[record.key] = record.value
    return values


def _check_producers(log: PartitionLog, around: Sequence[Promise], end: int) -> None:
    """P8: a snapshot and the tail give what a full replay gives."""
    promise = max(around, key=lambda promise: promise.end)
    replayed = ProducerState()
    aborted = []
    for batch in promise.batches:
        header = read_header(batch)
        if header.last_offset >= end or header.producer_id < 0:
            continue
        marker = read_marker(batch, header) if header.is_control else None
        if marker is not None and not marker.committed:
            entry = replayed.aborted_by(header, header.base_offset)
            aborted += [entry] if entry is not None else []
        replayed.replay(header, first_offset=header.base_offset, marker=marker)
    expected = sorted(replayed.active_producers())
    assert sorted(log.active_producers()) == expected
    if not any(each.compacted for each in around):
        pairs = [
            (entry.producer_id, entry.first_offset)
            for entry in aborted
            if entry.last_offset >= log.segments[0].base_offset
        ]
        found = log.aborted_transactions(log.log_start_offset, max(end, 1))
        assert [tuple(each) for each in found] == pairs


def _digest(image: Image) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for path, data in image.items():
        digest.update(f"{path}:{-1 if data is None else len(data)};".encode())
        digest.update(data or b"")
    return digest.digest()
