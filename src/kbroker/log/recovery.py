"""Opening a partition: from the files in a directory to a log that can be served (LogLoader).

    found                                   done
    --------------------------------------  ------------------------------------------------------
    .deleted, .cleaned, .swap               deletion or compaction is finished or undone
                                            (leftovers)
    an index without its .log               removed
    a segment without its indexes           indexes built anew from the batches
    segments from the recovery point on,    every batch checked; at the first bad one the segment
    if the last stop was not clean          is cut off and all later segments go (L3); they
                                            also go if they do not begin where it ends
    bad batches below the recovery point    left where they are: no crash has done that, and the
                                            good ones behind them must not go with them (L7)
    a snapshot behind the log end           removed; the producers are replayed from the one before
    no epochs, or unreadable ones           found anew in the batches, all of which are checked

After a clean stop nothing is read but the checkpoints, the last snapshot and the header of the
last batch.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from kbroker.config import TopicConfig
from kbroker.log import file_names, offset_index, time_index, transaction_index
from kbroker.log.disk import Disk
from kbroker.log.errors import CorruptLog
from kbroker.log.file_names import FileName, file_path
from kbroker.log.leader_epochs import LeaderEpochs
from kbroker.log.leftovers import finish_interrupted_work
from kbroker.log.producer_state import ProducerState
from kbroker.log.segment import MAX_RELATIVE_OFFSET, Segment
from kbroker.log.snapshot_files import SnapshotFiles
from kbroker.log.transaction_index import AbortedEntry
from kbroker.records import (
    BatchHeader,
    Buffer,
    CorruptRecords,
    Marker,
    RecordsError,
    crc_matches,
    read_marker,
)

_log = logging.getLogger(__name__)

_ALL_OFFSETS = 2**63

_ENTRY_BYTES = {
    file_names.OFFSET_INDEX: offset_index.ENTRY_BYTES,
    file_names.TIME_INDEX: time_index.ENTRY_BYTES,
    file_names.TRANSACTION_INDEX: transaction_index.ENTRY_BYTES,
}


@dataclass(slots=True)
class LoadedLog:
    """What a directory turned out to hold."""

    segments: list[Segment]
    snapshots: SnapshotFiles
    leader_epochs: LeaderEpochs
    producers: ProducerState
    log_start_offset: int
    log_end_offset: int
    recovery_point: int
    is_untouched: bool  # all is on the platter: left so by a clean stop and not mended, or new


class Loader:
    """Opens the log in one directory; `load` is called once."""

    def __init__(
        self, disk: Disk, directory: str, config: TopicConfig, producers: ProducerState, now_ms: int
    ) -> None:
        self._disk = disk
        self._directory = directory
        self._config = config
        self._producers = producers
        self._now_ms = now_ms
        self._epochs = LeaderEpochs(disk, directory)
        self._segments: list[Segment] = []
        self._snapshots = SnapshotFiles(disk, directory, ())
        self._is_untouched = True
        # No crash damages what lies before this offset; a clean stop has flushed everything.
        self._flushed_end = _ALL_OFFSETS

    def load(self, *, recovery_point: int, log_start_offset: int, clean: bool) -> LoadedLog:
        """The log, with every file in order; RecordsError or LogError if it cannot be."""
        if not clean:
            self._flushed_end = recovery_point
        files = finish_interrupted_work(self._disk, self._directory)
        self._load_epochs()
        spoiled = self._open_segments(files)
        is_new = not files
        if not self._epochs.epochs and any(segment.size_bytes for segment in self._segments):
            spoiled = 0  # only the batches know them now
        if spoiled is not None:  # an index of aborted transactions, too, can only be replayed
            clean, recovery_point = False, min(recovery_point, spoiled)
        log_end_offset = self._clean_end() if clean else None
        is_replayed = log_end_offset is None
        if log_end_offset is None:
            unclean_from = 0 if clean else recovery_point
            if clean and self._segments:
                unclean_from = self._segments[-1].base_offset
            log_end_offset = self._recover(unclean_from, log_start_offset)
            recovery_point = min(recovery_point, log_end_offset)  # not advanced by this (L2)
            self._is_untouched = False
        else:
            recovery_point = log_end_offset
        if not self._segments or log_end_offset < log_start_offset:
            log_end_offset = recovery_point = log_start_offset
            self._start_over(log_start_offset)
        log_start_offset = max(log_start_offset, self._segments[0].base_offset)
        self._epochs.truncate_from_end(log_end_offset)
        self._epochs.truncate_from_start(log_start_offset)
        self._snapshots.remove_after(log_end_offset)
        self._snapshots.keep(segment.base_offset for segment in self._segments)
        # Recovery has replayed the producers. A snapshot knows only the last batch of each, so that
        # to load the one it took would make strangers of the retries that a crash leads to (P1).
        if is_replayed:
            # Whether decided transactions were committed, nobody knows any more; a snapshot
            # does not tell either.
            self._producers.on_high_watermark(log_end_offset)
        else:
            rebuild_producers(
                self._producers,
                self._segments,
                self._snapshots,
                end_offset=log_end_offset,
                now_ms=self._now_ms,
            )
        for segment in self._segments:
            segment.release()
        return LoadedLog(
            self._segments,
            self._snapshots,
            self._epochs,
            self._producers,
            log_start_offset,
            log_end_offset,
            recovery_point,
            # An empty log has nothing to say that its first segment, synced when made, does not.
            is_untouched=is_new
            or (self._is_untouched and log_end_offset in self._snapshots.offsets),
        )

    # Files.

    def _load_epochs(self) -> None:
        try:
            self._epochs.load()
        except CorruptLog as error:
            _log.warning("the leader epochs are read from the batches: %s", error)
            self._epochs.forget()

    def _remove(self, name: FileName) -> None:
        self._disk.unlink(f"{self._directory}/{name}")

    def _open_segments(self, files: dict[FileName, int]) -> int | None:
        """Make the segments; the base offset of the first with a spoiled transaction index."""
        spoiled = None
        snapshots = [name.offset for name in files if name.kind == file_names.SNAPSHOT]
        self._snapshots = SnapshotFiles(self._disk, self._directory, snapshots)
        for name in sorted(files):
            if name.kind in _ENTRY_BYTES and FileName(name.offset, file_names.LOG) not in files:
                self._remove(name)
            if name.kind != file_names.LOG or name.fate:
                continue
            segment = Segment(
                self._disk,
                self._directory,
                name.offset,
                size_bytes=files[name],
                created_ms=self._now_ms,
            )
            self._segments.append(segment)
            # No index at all is as bad as one that ends inside an entry.
            sizes = {kind: files.get(FileName(name.offset, kind), 1) for kind in _ENTRY_BYTES}
            aborted_bytes = files.get(FileName(name.offset, file_names.TRANSACTION_INDEX), 0)
            segment.has_aborted = aborted_bytes > 0
            if spoiled is None and aborted_bytes % transaction_index.ENTRY_BYTES:
                spoiled = segment.base_offset
            if segment.size_bytes and any(
                sizes[kind] % _ENTRY_BYTES[kind]
                for kind in (file_names.OFFSET_INDEX, file_names.TIME_INDEX)
            ):
                segment.rebuild_indexes(self._config.index_interval_bytes)
                segment.save_indexes()
                self._is_untouched = False
        return spoiled

    # The log end.

    def _clean_end(self) -> int | None:
        """The log end by the header of the last batch; None if it must be searched for."""
        if not self._segments:
            return None
        try:
            return self._segments[-1].next_offset()
        except CorruptRecords as error:
            _log.warning("bad batch after a clean stop in %s: %s", self._directory, error)
            return None

    def _recover(self, recovery_point: int, log_start_offset: int) -> int:
        """Check every batch from the recovery point on (L3); the log end that is left."""
        segments = self._segments
        if not segments:
            return log_start_offset
        first = max(
            (n for n, segment in enumerate(segments) if segment.base_offset <= recovery_point),
            default=0,
        )
        next_offset = segments[first].base_offset
        rebuild_producers(
            self._producers,
            segments[:first],
            self._snapshots,
            end_offset=next_offset,
            now_ms=self._now_ms,
        )
        for number in range(first, len(segments)):
            segment = segments[number]
            later = segments[number + 1].base_offset if number + 1 < len(segments) else None
            if segment.base_offset > 0:
                self._snapshots.take(
                    segment.base_offset, self._producers.entries.values(), sync=False
                )
            next_offset, is_whole = self._recover_segment(segment, next_offset, later)
            # A new segment begins where the one before it ends, and compaction keeps the ends. A
            # hole between two is a write that a power cut took back, under a name that it left.
            if not is_whole or later not in (None, next_offset):
                self._drop_segments(number + 1)
                break
        if not self._epochs.is_saved:
            self._epochs.save()
        self._snapshots.remove_after(next_offset)
        self._snapshots.take(next_offset, self._producers.entries.values(), sync=False)
        return next_offset

    def _recover_segment(
        self, segment: Segment, next_offset: int, later: int | None
    ) -> tuple[int, bool]:
        """Check one segment and build its indexes; the end of the sound part, and if it is all."""
        next_offset = max(next_offset, segment.base_offset)
        last_possible = segment.base_offset + MAX_RELATIVE_OFFSET
        if later is not None:
            last_possible = min(last_possible, later - 1)
        aborted: list[AbortedEntry] = []
        segment.begin_rebuild()
        segment.has_aborted = False  # so that the index is not read, which may be spoiled
        sound_bytes = start = 0
        while True:
            try:
                for position, header, batch in segment.file.batches(start, segment.size_bytes):
                    is_sound = self._check(position, header, batch, next_offset, last_possible)
                    if position == start > 0:
                        segment.index_behind_damage(position, header.base_offset)
                    self._index(segment, position, header)
                    if is_sound:
                        self._replay(header, batch, aborted)
                    else:
                        _log.error("%s: a flushed batch at %d is damaged", segment.path(), position)
                    next_offset = header.next_offset
                    sound_bytes = position + header.size_bytes
                break
            except RecordsError as error:
                behind = self._behind_damage(segment, sound_bytes, next_offset, last_possible)
                if behind is None:
                    _log.warning("cut %s at %d: %s", segment.path(), sound_bytes, error)
                    break
                _log.error("%s: damaged from %d to %d", segment.path(), sound_bytes, behind)
                start = behind
        is_whole = sound_bytes == segment.size_bytes
        if not is_whole:
            segment.file.truncate(sound_bytes)
            segment.size_bytes = sound_bytes
        segment.transaction_index.rewrite(aborted)
        segment.has_aborted = bool(aborted)
        segment.save_indexes()
        return next_offset, is_whole

    def _check(
        self, position: int, header: BatchHeader, batch: Buffer, next_offset: int, last: int
    ) -> bool:
        """Whether the CRC of a batch is right; CorruptRecords if it must not be kept."""
        is_sound = crc_matches(batch, 0, header)
        if not is_sound and header.last_offset >= self._flushed_end:
            raise CorruptRecords(f"the CRC of the batch at {position} does not match")
        if not next_offset <= header.base_offset <= header.last_offset:
            raise CorruptRecords(f"offset {header.base_offset} behind {next_offset - 1}")
        if header.last_offset > last:
            raise CorruptRecords(f"offset {header.last_offset} is in the next segment")
        return is_sound

    def _behind_damage(
        self, segment: Segment, position: int, next_offset: int, last_possible: int
    ) -> int | None:
        """Where the log goes on behind bytes that make no sense; None if it ends before them.

        A crash leaves no such bytes below the recovery point, and takes nothing there. What was
        flushed behind them is sound, and must not go with them (L7).
        """
        if next_offset >= self._flushed_end:
            return None
        offsets = range(next_offset + 1, last_possible + 1)
        return segment.file.find_batch(position, segment.size_bytes, offsets)

    def _index(self, segment: Segment, position: int, header: BatchHeader) -> None:
        segment.index_batch(
            position,
            header.last_offset,
            header.max_timestamp_ms,
            header.size_bytes,
            self._config.index_interval_bytes,
        )

    def _replay(self, header: BatchHeader, batch: Buffer, aborted: list[AbortedEntry]) -> None:
        marker = marker_in(header, batch)
        if header.partition_leader_epoch >= 0:
            self._epochs.assign_in_memory(header.partition_leader_epoch, header.base_offset)
        if header.producer_id >= 0:
            if marker is not None and not marker.committed:
                entry = self._producers.aborted_by(header, header.base_offset)
                if entry is not None:
                    aborted.append(entry)
            self._producers.replay(header, first_offset=header.base_offset, marker=marker)

    def _drop_segments(self, first: int) -> None:
        if first == len(self._segments):
            return
        for segment in reversed(self._segments[first:]):
            remove_segment_files(self._disk, self._directory, segment.base_offset)
            self._snapshots.remove(segment.base_offset)
        del self._segments[first:]
        self._disk.sync_directory(self._directory)

    def _start_over(self, offset: int) -> None:
        """Begin an empty log: there is none yet, or its files were deleted by hand."""
        self._drop_segments(0)
        self._snapshots.remove_after(-1)
        self._producers.clear()
        if self._epochs.epochs:
            self._epochs.clear()
        self._segments.append(
            Segment.create(self._disk, self._directory, offset, now_ms=self._now_ms)
        )


def marker_in(header: BatchHeader, batch: Buffer) -> Marker | None:
    """The transaction marker of a batch; None for data and for other control records."""
    return read_marker(batch, header) if header.is_control and header.producer_id >= 0 else None


def remove_segment_files(disk: Disk, directory: str, base_offset: int) -> None:
    """Remove a segment; its ``.log`` goes first, because an index alone is removed at start."""
    for kind in file_names.SEGMENT_KINDS:
        disk.unlink(file_path(directory, base_offset, kind))


def rebuild_producers(
    producers: ProducerState,
    segments: Sequence[Segment],
    snapshots: SnapshotFiles,
    *,
    end_offset: int,
    now_ms: int,
) -> None:
    """Let ``producers`` be what they were before ``end_offset``: a snapshot and the tail (P8).

    The log start plays no part in it: a producer outlives its records (P9).
    """
    found = snapshots.load_latest(end_offset)
    offset, entries = found if found is not None else (0, [])
    producers.load(entries, now_ms=now_ms)
    for number, segment in enumerate(segments):
        is_last = number + 1 == len(segments)
        if offset >= end_offset:
            break
        if not is_last and segments[number + 1].base_offset <= offset:
            continue
        start = segment.position_of(offset) if offset > segment.base_offset else 0
        if start is None:
            continue
        # Damage that no crash has done costs what it holds, and not the partition (L7).
        for position, header in segment.file.headers_over_damage(
            start, segment.size_bytes, segment.possible_offsets()
        ):
            if header.base_offset >= end_offset:
                break
            if header.producer_id >= 0 and header.last_offset >= offset:
                batch = segment.file.read(position, header.size_bytes) if header.is_control else b""
                producers.replay(
                    header, first_offset=header.base_offset, marker=marker_in(header, batch)
                )
        if not is_last:
            offset = max(offset, segments[number + 1].base_offset)
