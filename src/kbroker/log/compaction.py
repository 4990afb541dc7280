"""One round of compaction of one log (Kafka's Cleaner): map the dirty part, copy what stays.

`CompactionJob.run` is for a thread. It reads segments that nobody writes to any more, writes files
of its own with names in ``.cleaned``, and looks at no object that the loop may change: all it
needs was copied when the job was made. `finish_cleaning` then, on the loop, swaps the files in, if
the log was not cut meanwhile (C6).

What a power cut may leave: dropping a record is right only as long as the later record of its key
is there, and the marker that committed it, wherever that is. So all that is in the log and not
flushed yet is synced first, and the new files are synced before they get a name that counts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kbroker.log import file_names
from kbroker.log.batch_retention import BatchRetention, LastBatch
from kbroker.log.cleanable import Cleanable
from kbroker.log.cleaned_segment import CleanedSegment
from kbroker.log.cleaned_transactions import CleanedTransactions
from kbroker.log.deletion import DeletedSegment
from kbroker.log.errors import CleaningAborted, CorruptLog, StorageError
from kbroker.log.file_names import file_path
from kbroker.log.offset_map import OffsetMap
from kbroker.log.segment import MAX_RELATIVE_OFFSET, Segment
from kbroker.log.segment_file import SegmentFile
from kbroker.log.swap import Replacement
from kbroker.records import (
    BatchHeader,
    CorruptRecords,
    RecordsError,
    crc_matches,
    iterate_records,
    parse_records,
)

DEFAULT_MEMORY_BYTES = 134_217_728  # log.cleaner.dedupe.buffer.size


@dataclass(frozen=True, slots=True)
class Source:
    """A segment as it was when the job was made; it does not change."""

    segment: Segment  # for the loop alone
    base_offset: int
    end_offset: int  # the base offset of the next segment
    size_bytes: int


@dataclass(slots=True)
class CleanedGroup:
    """Neighbours that become one segment, and the files of that segment."""

    sources: Sequence[Source]
    cleaned: CleanedSegment


@dataclass(slots=True)
class CleaningStats:
    """What one round saw and left."""

    bytes_read: int = 0
    bytes_written: int = 0
    records_read: int = 0
    records_written: int = 0
    keyless_records: int = 0


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What came out of a round: the next first dirty offset, and files to be purged later."""

    first_dirty_offset: int
    deleted_segments: list[DeletedSegment]
    stats: CleaningStats


def _at_full_speed(_byte_count: int) -> None:
    """No throttle."""


class CompactionJob:
    """A round of compaction; `run` once in a thread, then `finish_cleaning` on the loop."""

    def __init__(self, cleanable: Cleanable, *, now_ms: int, memory_bytes: int) -> None:
        log = cleanable.log
        self.log = log  # for the loop alone
        self.truncations = log.truncations
        self.stats = CleaningStats()
        self.groups: list[CleanedGroup] = []
        self.end_offset = cleanable.first_dirty_offset
        self._first_dirty_offset = cleanable.first_dirty_offset
        self._disk = log.disk
        self._directory = log.directory
        self._config = log.config
        self._now_ms = now_ms
        self._offsets = OffsetMap(memory_bytes)
        segments = log.segments.as_list()
        self._sources = [
            Source(segment, segment.base_offset, later.base_offset, segment.size_bytes)
            for segment, later in pairwise(segments)
            if segment.base_offset < cleanable.first_uncleanable_offset
        ]
        unflushed = log.segments.number_of(log.recovery_point)
        self._unflushed = [segment.base_offset for segment in segments[unflushed:]]
        self._aborted = log.segments.aborted(
            segments[0].base_offset, cleanable.first_uncleanable_offset
        )
        self._last_batches = {
            entry.producer_id: LastBatch(
                entry.batches[-1].last_offset if entry.batches else -1, entry.producer_epoch
            )
            for entry in log.producers.entries.values()
        }
        self._throttle: Callable[[int], None] = _at_full_speed

    def run(self, throttle: Callable[[int], None] = _at_full_speed) -> None:
        """Write the new segments, synced, beside the old ones; safe to call in a thread.

        ``throttle`` is told of the bytes as they are read and written, and may wait or raise.
        Leaves no files if it fails: with CorruptLog at a batch that cannot be read (none is
        dropped unread), CleaningAborted if the log went away, StorageError.
        """
        self._throttle = throttle
        is_done = False
        try:
            self._sync_unflushed()
            self.end_offset = self._map_keys()
            self._write_groups([s for s in self._sources if s.base_offset < self.end_offset])
            # This also makes sure that no file of an earlier round comes back after a crash.
            self._disk.sync_directory(self._directory)
            is_done = True
        except FileNotFoundError as error:
            raise CleaningAborted(f"{self._directory}: {error}") from error
        except OSError as error:
            raise StorageError(f"{self._directory}: {error}") from error
        except RecordsError as error:
            raise CorruptLog(f"{self._directory}: {error}") from error
        finally:
            if not is_done:
                self.discard()

    def discard(self) -> None:
        """Remove the files that were written."""
        for group in self.groups:
            group.cleaned.discard()
        self.groups = []

    # Reading.

    def _open(self, base_offset: int) -> SegmentFile:
        path = file_path(self._directory, base_offset, file_names.LOG)
        return SegmentFile(self._disk, path, base_offset)

    def _sync_unflushed(self) -> None:
        for base_offset in self._unflushed:
            self._open(base_offset).sync()

    def _batches(self, source: Source) -> Iterator[tuple[int, BatchHeader, memoryview]]:
        """The batches of a segment, each with its CRC checked (L7)."""
        for position, header, batch in self._open(source.base_offset).batches(0, source.size_bytes):
            if not crc_matches(batch, 0, header):
                raise CorruptRecords(
                    f"the CRC of the batch at {position} of segment {source.base_offset}"
                    " does not match"
                )
            self._throttle(header.size_bytes)
            yield position, header, batch

    def _map_keys(self) -> int:
        """Fill the map from the dirty part; the end of what it knows all keys of."""
        first_dirty_offset = self._first_dirty_offset
        # A transaction that ended in the clean part does not reach into the dirty one.
        transactions = CleanedTransactions(
            entry for entry in self._aborted if entry.last_offset >= first_dirty_offset
        )
        offsets = self._offsets
        offsets.latest_offset = first_dirty_offset - 1
        for source in self._sources:
            if source.end_offset <= first_dirty_offset:
                continue
            for _, header, batch in self._batches(source):
                if header.last_offset < first_dirty_offset:
                    continue
                if offsets.is_full:
                    return offsets.latest_offset + 1
                if header.is_control:
                    transactions.is_obsolete(header, parse_records(batch, header))
                elif not transactions.is_aborted(header):
                    for record in iterate_records(batch, header):
                        if record.key is not None and record.offset >= first_dirty_offset:
                            offsets.put(record.key, record.offset)
                offsets.latest_offset = header.last_offset
            offsets.latest_offset = source.end_offset - 1
        return offsets.latest_offset + 1

    # Writing.

    def _write_groups(self, sources: Sequence[Source]) -> None:
        transactions = CleanedTransactions(self._aborted)
        retention = BatchRetention(
            self._offsets,
            transactions,
            self._last_batches,
            now_ms=self._now_ms,
            delete_retention_ms=self._config.delete_retention_ms,
        )
        for group in self._group(sources):
            cleaned = self._copy(group, retention)
            cleaned.finish(transactions.kept, modified_ms=self._modified_ms(group[-1]))
            transactions.kept = []
            self.stats.bytes_written += cleaned.size_bytes
        self.stats.records_read = retention.records_read
        self.stats.records_written = retention.records_written
        self.stats.keyless_records = retention.keyless_records

    def _group(self, sources: Sequence[Source]) -> Iterator[list[Source]]:
        """Neighbours that fit into one segment, by the sizes they have before cleaning."""
        group: list[Source] = []
        sizes: tuple[int, ...] = (0, 0, 0)
        limits = (self._config.segment_bytes, *(self._config.segment_index_bytes,) * 2)
        for source in sources:
            more: tuple[int, ...] = (
                source.size_bytes,
                self._index_bytes(source, file_names.OFFSET_INDEX),
                self._index_bytes(source, file_names.TIME_INDEX),
            )
            together = tuple(a + b for a, b in zip(sizes, more, strict=True))
            fits = all(size <= limit for size, limit in zip(together, limits, strict=True))
            if group and source.size_bytes:
                fits &= source.end_offset - 1 - group[0].base_offset <= MAX_RELATIVE_OFFSET
            if group and not fits:
                yield group
                group = []
                together = more
            group.append(source)
            sizes = together
        if group:
            yield group

    def _index_bytes(self, source: Source, kind: str) -> int:
        try:
            return self._disk.size_bytes(file_path(self._directory, source.base_offset, kind))
        except FileNotFoundError:
            return 0  # it is built anew when somebody needs it

    def _copy(self, sources: Sequence[Source], retention: BatchRetention) -> CleanedSegment:
        """Copy what stays of some segments into a new one."""
        cleaned = CleanedSegment(
            self._disk,
            self._directory,
            sources[0].base_offset,
            interval_bytes=self._config.index_interval_bytes,
        )
        self.groups.append(CleanedGroup(sources, cleaned))
        cleaned.begin()
        # The last batch stays at least as a header: by it, recovery after a crash knows up to
        # where the new segment takes the place of others, and the offset of the end is not lost.
        last = max((source.base_offset for source in sources if source.size_bytes), default=-1)
        for source in sources:
            for position, header, batch in self._batches(source):
                end = position + header.size_bytes
                is_end = source.base_offset == last and end == source.size_bytes
                kept = retention.retain(header, batch, keep_header=is_end)
                if kept is not None:
                    cleaned.append(kept)
                    self._throttle(len(kept))
            self.stats.bytes_read += source.size_bytes
        return cleaned

    def _modified_ms(self, source: Source) -> int:
        path = file_path(self._directory, source.base_offset, file_names.LOG)
        return self._disk.modified_ms(path)


def begin_cleaning(
    cleanable: Cleanable, *, now_ms: int, memory_bytes: int = DEFAULT_MEMORY_BYTES
) -> CompactionJob:
    """A job for the log; there may be one at a time for each."""
    return CompactionJob(cleanable, now_ms=now_ms, memory_bytes=memory_bytes)


def finish_cleaning(job: CompactionJob) -> Cleaned:
    """Swap in what the job wrote; on the loop, after `run`.

    CleaningAborted, and everything as it was, if the log was cut or lost some of the segments
    meanwhile. DiskFailed if the swap broke off: the files are in order after the next start only.
    """
    log = job.log
    try:
        groups = _still_there(job)
    except CleaningAborted:
        job.discard()
        raise
    replacements = []
    for group in groups:
        new = group.cleaned.as_segment(created_ms=group.sources[0].segment.created_ms)
        replacements.append(Replacement(new, [source.segment for source in group.sources]))
    deleted = log.swap_cleaned(replacements)
    log.first_dirty_offset = max(job.end_offset, log.log_start_offset)
    return Cleaned(log.first_dirty_offset, deleted, job.stats)


def _still_there(job: CompactionJob) -> list[CleanedGroup]:
    """The groups whose segments are in the log as the job found them.

    Retention may have deleted whole groups at the front; a part of a group, or anything else,
    means that the records that made others superfluous may be gone.
    """
    log = job.log
    if log.truncations != job.truncations:
        raise CleaningAborted(f"{log.topic_partition} was truncated")
    if not log.config.compact:
        raise CleaningAborted(f"{log.topic_partition} is not compacted any more")
    present = {id(segment) for segment in log.segments}
    groups = list(job.groups)
    while groups and not any(id(source.segment) in present for source in groups[0].sources):
        groups.pop(0).cleaned.discard()
    if not all(id(source.segment) in present for group in groups for source in group.sources):
        raise CleaningAborted(f"{log.topic_partition} lost segments")
    return groups
