"""A stretch of the log in a file of its own, with its indexes (Kafka's LogSegment).

Only the last segment of a log, the active one, is written to. A segment that nobody reads or
writes holds no descriptor and no index in memory: `release` lets go of both, and they come back
when they are needed.

The append path compares with three numbers prepared before (`limit_bytes`, `roll_after_ms`,
`last_possible_offset`) and asks for more only when one is passed. A segment is *cold*, with
``last_possible_offset`` -1, when these numbers are not prepared: just opened, still empty, its
index full, or the config changed.
"""

import logging
from typing import NoReturn, Self
from zlib import crc32

from kbroker.config import TopicConfig
from kbroker.log import file_names, offset_index, time_index
from kbroker.log.disk import Disk
from kbroker.log.errors import CorruptLog, DiskFailed, StorageError
from kbroker.log.file_names import file_path
from kbroker.log.offset_index import OffsetIndex, read_last_position
from kbroker.log.segment_file import SegmentFile
from kbroker.log.time_index import TimeEntry, TimeIndex, read_last_entry
from kbroker.log.transaction_index import TransactionIndex
from kbroker.records import NO_TIMESTAMP, Buffer, CorruptRecords

# Offsets in the indexes are 32 bits from the base offset on.
MAX_RELATIVE_OFFSET = 2**31 - 1
_LONG_AGO_MS = -(2**63)
_COLD = -1
_ANY_OFFSET = 2**63 - 1

_log = logging.getLogger(__name__)


class Segment:
    """The batches from ``base_offset`` to the next segment, or to the log end."""

    __slots__ = (
        "_directory",
        "_disk",
        "_file",
        "_first_timestamp_ms",
        "_index_entries",
        "_is_mended",
        "_max_timestamp_known",
        "_offset_index",
        "_time_index",
        "_transaction_index",
        "_walked_offset",
        "_walked_position",
        "base_offset",
        "bytes_since_index_entry",
        "created_ms",
        "has_aborted",
        "last_possible_offset",
        "limit_bytes",
        "max_timestamp_ms",
        "max_timestamp_offset",
        "roll_after_ms",
        "size_bytes",
    )

    def __init__(
        self, disk: Disk, directory: str, base_offset: int, *, size_bytes: int, created_ms: int
    ) -> None:
        self._disk = disk
        self._directory = directory
        self.base_offset = base_offset
        self.size_bytes = size_bytes
        self.created_ms = created_ms
        self._file: SegmentFile | None = None
        self._offset_index: OffsetIndex | None = None
        self._time_index: TimeIndex | None = None
        self._transaction_index: TransactionIndex | None = None
        # Whether there is a .txnindex; most segments have none, and nobody asks the disk then.
        self.has_aborted = False
        self.bytes_since_index_entry = 0
        # The largest timestamp, and the last offset of the batch it is in.
        self.max_timestamp_ms = NO_TIMESTAMP
        self.max_timestamp_offset = base_offset
        self._max_timestamp_known = size_bytes == 0
        self._first_timestamp_ms: int | None = None  # the max timestamp of the first batch
        self.limit_bytes = 0
        self.roll_after_ms = 0
        self._index_entries = 0  # how many fit into the smaller index
        self.last_possible_offset = _COLD
        # Whether damage was met and the indexes were built anew, which is done once.
        self._is_mended = False
        # A batch boundary that a reader has come to, where its next read begins.
        self._walked_offset = base_offset
        self._walked_position = 0

    @classmethod
    def create(cls, disk: Disk, directory: str, base_offset: int, *, now_ms: int) -> Self:
        """A new, empty segment with its name on the platter (L1)."""
        path = file_path(directory, base_offset, file_names.LOG)
        for kind in file_names.SEGMENT_KINDS[1:]:
            disk.unlink(file_path(directory, base_offset, kind))
        try:
            disk.write_file(path, b"", sync=False)
            disk.sync_directory(directory)
        except OSError:
            disk.unlink(path)  # an empty file would be taken for the end of the log
            raise
        segment = cls(disk, directory, base_offset, size_bytes=0, created_ms=now_ms)
        segment._offset_index = OffsetIndex()
        segment._time_index = TimeIndex()
        return segment

    def path(self, kind: str = file_names.LOG, fate: str = "") -> str:
        """The path of one of the segment's files."""
        return file_path(self._directory, self.base_offset, kind, fate)

    # What is opened when it is needed.

    @property
    def file(self) -> SegmentFile:
        """The open ``.log`` file."""
        file = self._file
        if file is None:
            file = self._file = SegmentFile(self._disk, self.path(), self.base_offset)
        return file

    @property
    def offset_index(self) -> OffsetIndex:
        """The offset index; built anew from the batches if its file is of no use."""
        if self._offset_index is None:
            try:
                index = OffsetIndex.load(self._disk, self.path(file_names.OFFSET_INDEX))
                if index.last_position() >= max(1, self.size_bytes):
                    raise ValueError("an entry behind the end of the segment")
            except (FileNotFoundError, ValueError):
                self.rebuild_indexes()
            else:
                self._offset_index = index
        assert self._offset_index is not None
        return self._offset_index

    @property
    def time_index(self) -> TimeIndex:
        """The time index; built anew from the batches if its file is of no use."""
        if self._time_index is None:
            try:
                index = TimeIndex.load(self._disk, self.path(file_names.TIME_INDEX))
            except (FileNotFoundError, ValueError):
                self.rebuild_indexes()
            else:
                self._time_index = index
        assert self._time_index is not None
        return self._time_index

    @property
    def transaction_index(self) -> TransactionIndex:
        """The aborted transactions; CorruptLog if the file holds something else: without it,
        nobody can tell which records must not be seen."""
        if self._transaction_index is None:
            path = self.path(file_names.TRANSACTION_INDEX)
            if self.has_aborted:
                try:
                    self._transaction_index = TransactionIndex.load(self._disk, path)
                except ValueError as error:
                    raise CorruptLog(f"{path}: {error}") from error
            else:
                self._transaction_index = TransactionIndex(self._disk, path)
        return self._transaction_index

    def _open(self) -> None:
        """Open the file and the indexes, if they are not."""
        opened = self.file, self.offset_index, self.time_index
        assert all(each is not None for each in opened)

    def release(self) -> None:
        """Let go of the descriptor and the indexes of a segment that is not written to."""
        self._file = None
        self._offset_index = None
        self._time_index = None
        self._transaction_index = None

    # Appending.

    def write(self, records: Buffer, size_bytes: int) -> None:
        """Put whole batches behind the last one, or raise StorageError and leave nothing (L10)."""
        file = self._file
        assert file is not None, "a cold segment"
        try:
            written = self._disk.write(file.file_descriptor, records)
        except OSError as error:
            self._undo_write(str(error))
        if written != size_bytes:
            self._undo_write(f"{written} of {size_bytes} bytes written")
        self.size_bytes += size_bytes

    def _undo_write(self, reason: str) -> NoReturn:
        """Cut off what a failed write may have left; raises in any case."""
        if self.size_bytes == 0:
            self.last_possible_offset = _COLD  # the first batch is still to come
        try:
            self.file.truncate(self.size_bytes)
        except OSError as error:
            raise DiskFailed(f"{self.path()}: {reason}, then {error}") from error
        raise StorageError(f"{self.path()}: {reason}")

    def index_batch(
        self, position: int, last_offset: int, timestamp_ms: int, size_bytes: int, interval: int
    ) -> None:
        """Take note of a batch that was written at ``position``."""
        if timestamp_ms > self.max_timestamp_ms:
            self.max_timestamp_ms = timestamp_ms
            self.max_timestamp_offset = last_offset
        if self.bytes_since_index_entry > interval:
            base_offset = self.base_offset
            self.offset_index.append(last_offset - base_offset, position)
            self.time_index.append(self.max_timestamp_ms, self.max_timestamp_offset - base_offset)
            self.bytes_since_index_entry = 0
            if len(self.offset_index) >= self._index_entries:
                self.last_possible_offset = _COLD
        self.bytes_since_index_entry += size_bytes

    def cool(self) -> None:
        """Have the three numbers prepared anew before the next append."""
        self.last_possible_offset = _COLD

    def prepare(self, config: TopicConfig, *, timestamp_ms: int) -> None:
        """Prepare for appends that begin with a batch of this timestamp.

        All that may fail is done here: after a write there is no way back (L4).
        """
        self._open()
        self.load_max_timestamp()
        if self.size_bytes == 0:
            self._first_timestamp_ms = timestamp_ms
        first_timestamp_ms = self.load_first_timestamp()
        self.limit_bytes = config.segment_bytes
        if first_timestamp_ms >= 0:
            self.roll_after_ms = (
                first_timestamp_ms + max_segment_ms(config) - self._jitter_ms(config)
            )
        else:
            self.roll_after_ms = _LONG_AGO_MS  # the clock decides, so `due_for_roll` must be asked
        self._index_entries = config.segment_index_bytes // time_index.ENTRY_BYTES - 1
        self.last_possible_offset = self.base_offset + MAX_RELATIVE_OFFSET

    def due_for_roll(
        self,
        config: TopicConfig,
        *,
        size_bytes: int,
        last_offset: int,
        timestamp_ms: int,
        now_ms: int,
    ) -> bool:
        """Whether these batches belong into a new segment (Kafka's LogSegment.shouldRoll)."""
        if last_offset - self.base_offset > MAX_RELATIVE_OFFSET:
            return True
        if self.size_bytes == 0:
            return False
        if self.size_bytes + size_bytes > config.segment_bytes:
            return True
        if self.waited_ms(now_ms, timestamp_ms) > max_segment_ms(config) - self._jitter_ms(config):
            return True
        # The time index keeps a place for the entry that closes it.
        entries = config.segment_index_bytes // offset_index.ENTRY_BYTES
        time_entries = config.segment_index_bytes // time_index.ENTRY_BYTES - 1
        return len(self.offset_index) >= entries or len(self.time_index) >= time_entries

    def waited_ms(self, now_ms: int, timestamp_ms: int) -> int:
        """How long the segment has been filled, by the clock of its records if they have one."""
        first_timestamp_ms = self.load_first_timestamp()
        if first_timestamp_ms >= 0:
            return timestamp_ms - first_timestamp_ms
        return now_ms - self.created_ms

    def _jitter_ms(self, config: TopicConfig) -> int:
        """How much earlier than others this segment rolls; the same at every look at it."""
        bound = min(config.segment_jitter_ms, max_segment_ms(config))
        return crc32(self.path().encode()) % bound if bound > 0 else 0

    def load_first_timestamp(self) -> int:
        """The max timestamp of the first batch, -1 if there is none."""
        if self._first_timestamp_ms is None:
            if self.size_bytes == 0:
                return NO_TIMESTAMP
            try:
                _, header = next(self.file.headers(0, self.size_bytes))
            except CorruptRecords:
                return NO_TIMESTAMP  # then the clock decides when to roll
            self._first_timestamp_ms = header.max_timestamp_ms
        return self._first_timestamp_ms

    def load_max_timestamp(self) -> int:
        """The largest timestamp in the segment, -1 if no record has one."""
        if not self._max_timestamp_known:
            path = self.path(file_names.TIME_INDEX)
            try:
                entry = read_last_entry(self._disk, path, self._disk.size_bytes(path))
            except (FileNotFoundError, ValueError):
                self.rebuild_indexes()
                return self.max_timestamp_ms
            self.max_timestamp_ms = entry.timestamp_ms
            self.max_timestamp_offset = self.base_offset + entry.relative_offset
            self._max_timestamp_known = True
        return self.max_timestamp_ms

    def confirm_max_timestamp(self) -> int:
        """The same, compared with the batch it should be in: by it, segments are deleted."""
        self.load_max_timestamp()
        entry = TimeEntry(self.max_timestamp_ms, self.max_timestamp_offset - self.base_offset)
        self._confirm(entry)
        return self.max_timestamp_ms

    def time_entry(self, timestamp_ms: int) -> TimeEntry:
        """The last entry of the time index at or before a timestamp, which is where it says."""
        entry = self.time_index.lookup(timestamp_ms)
        return entry if self._confirm(entry) else self.time_index.lookup(timestamp_ms)

    def _confirm(self, entry: TimeEntry) -> bool:
        """Whether an entry of the time index is right; if not, the indexes are built anew."""
        if entry.timestamp_ms == NO_TIMESTAMP or self._is_mended:
            return True
        offset = self.base_offset + entry.relative_offset
        try:
            position = self.position_of(offset)
            if position is not None:
                _, header = next(self.file.headers(position, self.size_bytes))
                if header.base_offset <= offset and header.max_timestamp_ms == entry.timestamp_ms:
                    return True
            raise CorruptRecords(f"the time index does not fit to offset {offset}")
        except CorruptRecords as error:
            if not self._is_mended:
                self._mend(error)
        return False

    # Finding.

    def position_of(self, offset: int) -> int | None:
        """Where the batch begins that holds ``offset`` or the next one; None if all are before."""
        if offset == self._walked_offset and self._walked_position < self.size_bytes:
            return self._walked_position
        try:
            return self._walk_to(offset)
        except CorruptRecords as error:
            if self._is_mended:
                raise
            self._mend(error)
        return self._walk_to(offset)

    def _walk_to(self, offset: int) -> int | None:
        base_offset = self.base_offset
        known, start = self.offset_index.entry_before(offset - base_offset)
        # Behind a wrong entry a reader would miss what lies before it.
        largest_offset = base_offset + known
        if not 0 <= start <= self.size_bytes:
            raise CorruptRecords(f"{self.path()}: the index points to {start}")
        for position, header in self.file.headers(start, self.size_bytes):
            if header.base_offset > largest_offset:
                raise CorruptRecords(f"{self.path()}: the index does not fit to {position}")
            if header.last_offset >= offset:
                return position
            largest_offset = _ANY_OFFSET
        return None

    def _mend(self, error: CorruptRecords) -> None:
        """Build the indexes anew: if they were wrong this mends them, and if batches are, it makes
        those behind the damage reachable. Nothing of the log itself is changed (L7)."""
        _log.error("%s is damaged, and indexed anew: %s", self.path(), error)
        self._is_mended = True
        self.rebuild_indexes()
        self.save_indexes()

    def remember(self, offset: int, position: int) -> None:
        """Let a reader find the batch that will begin at ``position`` with ``offset`` at once."""
        self._walked_offset = offset
        self._walked_position = position

    def next_offset(self) -> int:
        """The offset behind the last batch, by its header; CorruptRecords if there is none."""
        offset = self.base_offset
        if self._offset_index is not None:
            start = self._offset_index.last_position()
        else:
            start = read_last_position(self._disk, self.path(file_names.OFFSET_INDEX))
        for _, header in self.file.headers(start, self.size_bytes):
            offset = header.next_offset
        return offset

    # Closing, cutting, mending.

    def save_indexes(self) -> None:
        """Bring the indexes up to date in their files, with the time index closed for now."""
        self.load_max_timestamp()
        self.time_index.append(self.max_timestamp_ms, self.max_timestamp_offset - self.base_offset)
        self.offset_index.save(self._disk, self.path(file_names.OFFSET_INDEX))
        self.time_index.save(self._disk, self.path(file_names.TIME_INDEX))

    def truncate_to(self, offset: int) -> None:
        """Drop the batch that holds ``offset`` and all behind it."""
        position = self.position_of(offset)
        relative_offset = offset - self.base_offset
        self.offset_index.truncate(relative_offset)
        self.time_index.truncate(relative_offset)
        self.transaction_index.truncate(offset)
        self.has_aborted = bool(self.transaction_index.entries)
        if position is not None:
            self.file.truncate(position)
            self.size_bytes = position
        self.bytes_since_index_entry = 0
        self.last_possible_offset = _COLD
        self.remember(self.base_offset, 0)
        if self.size_bytes == 0:
            self._first_timestamp_ms = None
        self._find_max_timestamp()

    def _find_max_timestamp(self) -> None:
        entry = self.time_index.last_entry()
        self.max_timestamp_ms = entry.timestamp_ms
        self.max_timestamp_offset = self.base_offset + entry.relative_offset
        start = self.offset_index.lookup(entry.relative_offset)
        for _, header in self.file.headers_over_damage(
            start, self.size_bytes, self.possible_offsets()
        ):
            if header.max_timestamp_ms > self.max_timestamp_ms:
                self.max_timestamp_ms = header.max_timestamp_ms
                self.max_timestamp_offset = header.last_offset
        self._max_timestamp_known = True

    def rebuild_indexes(self, interval: int = 4096) -> None:
        """Build offset and time index anew from the headers; they are not saved.

        Damaged bytes are stepped over. Whether they may be cut off is for recovery to decide.
        """
        self.begin_rebuild()
        end = 0
        for position, header in self.file.headers_over_damage(
            0, self.size_bytes, self.possible_offsets()
        ):
            if position > end:
                self.index_behind_damage(position, header.base_offset)
            self.index_batch(
                position, header.last_offset, header.max_timestamp_ms, header.size_bytes, interval
            )
            end = position + header.size_bytes

    def possible_offsets(self) -> range:
        """The offsets that batches of this segment may have."""
        return range(self.base_offset, self.base_offset + MAX_RELATIVE_OFFSET + 1)

    def index_behind_damage(self, position: int, base_offset: int) -> None:
        """Let readers find the batch at ``position`` without a walk over what is before it."""
        self.offset_index.append(base_offset - self.base_offset, position)
        self.bytes_since_index_entry = 0

    def begin_rebuild(self) -> None:
        """Forget the indexes; `index_batch` is to be called for each batch from the first on."""
        self._offset_index = OffsetIndex()
        self._time_index = TimeIndex()
        self.bytes_since_index_entry = 0
        self.max_timestamp_ms = NO_TIMESTAMP
        self.max_timestamp_offset = self.base_offset
        self._max_timestamp_known = True
        self._first_timestamp_ms = None
        self.last_possible_offset = _COLD
        self.remember(self.base_offset, 0)


def max_segment_ms(config: TopicConfig) -> int:
    """How long a segment may be filled; compaction comes to no record before its segment rolls."""
    if config.compact and config.max_compaction_lag_ms > 0:
        return min(config.segment_ms, config.max_compaction_lag_ms)
    return config.segment_ms
