"""The segments of a partition through their life: begun, filled, rolled, cut, flushed, deleted.

This is the part of a log that no reader or writer sees (Kafka's LocalLog and a good part of its
UnifiedLog). `PartitionLog` adds appending and reading.

What is flushed and when is the shell's affair: `flush_target` hands out a job for a thread, and
`on_flushed` moves the recovery point. What lies below it survives a power cut; a start without a
clean stop checks everything behind it (L2, L3).
"""

from collections.abc import Sequence
from itertools import pairwise

from kbroker.config import TopicConfig
from kbroker.log import file_names
from kbroker.log.deletion import (
    DeletedDirectory,
    DeletedSegment,
    deleted_directory_name,
    mark_deleted,
)
from kbroker.log.disk import Disk, storage_errors
from kbroker.log.errors import OffsetOutOfRange, RecordListTooLarge
from kbroker.log.flushing import FlushJob, open_for_sync
from kbroker.log.recovery import LoadedLog, rebuild_producers, remove_segment_files
from kbroker.log.retention import deletable_segments
from kbroker.log.segment import MAX_RELATIVE_OFFSET, Segment, max_segment_ms
from kbroker.log.segments import Segments
from kbroker.log.swap import Replacement, swap_in
from kbroker.log.validation import is_opaque
from kbroker.model import TopicPartition, Uuid


class LocalLog:
    """The segments of one partition and what is known about them.

    ``log_start_offset`` <= any offset to be read < ``log_end_offset``, and ``recovery_point`` <=
    ``log_end_offset``. The high watermark is given where it matters.
    """

    __slots__ = (
        "_after_max_ms",
        "_config",
        "_disk",
        "_interval_bytes",
        "_is_opaque",
        "_max_message_bytes",
        "_settled_end",
        "_snapshots",
        "_truncations",
        "directory",
        "first_dirty_offset",
        "last_flush_ms",
        "leader_epochs",
        "log_end_offset",
        "log_start_offset",
        "producers",
        "recovery_point",
        "segments",
        "topic_id",
        "topic_partition",
    )

    def __init__(
        self,
        directory: str,
        topic_partition: TopicPartition,
        topic_id: Uuid,
        config: TopicConfig,
        loaded: LoadedLog,
        disk: Disk,
        now_ms: int,
    ) -> None:
        self.directory = directory
        self.topic_partition = topic_partition
        self.topic_id = topic_id
        self._disk = disk
        self.segments = Segments(loaded.segments)
        self._snapshots = loaded.snapshots
        self.leader_epochs = loaded.leader_epochs
        self.producers = loaded.producers
        self.log_start_offset = loaded.log_start_offset
        self.log_end_offset = loaded.log_end_offset
        self.recovery_point = loaded.recovery_point
        # Where the last round of compaction ended; the shell keeps it in a checkpoint.
        self.first_dirty_offset = 0
        self.last_flush_ms = now_ms
        # The log end for which everything is on the platter as a clean start wants it.
        self._settled_end = loaded.log_end_offset if loaded.is_untouched else -1
        self._truncations = 0  # a flush from before a truncation proves nothing
        self.config = config

    @property
    def config(self) -> TopicConfig:
        """The settings of the topic; they may be changed at any time."""
        return self._config

    @config.setter
    def config(self, config: TopicConfig) -> None:
        self._config = config
        self._is_opaque = is_opaque(config)
        self._after_max_ms = config.message_timestamp_after_max_ms
        self._max_message_bytes = config.max_message_bytes
        self._interval_bytes = config.index_interval_bytes
        self.segments.active.cool()

    @property
    def disk(self) -> Disk:
        """The door to the files."""
        return self._disk

    @property
    def truncations(self) -> int:
        """How often the log was cut since it was opened; a job from before proves nothing."""
        return self._truncations

    @property
    def size_bytes(self) -> int:
        """The bytes of all segments."""
        return sum(segment.size_bytes for segment in self.segments)

    @property
    def unflushed_messages(self) -> int:
        """How many offsets a power cut may take back."""
        return self.log_end_offset - self.recovery_point

    @property
    def latest_epoch(self) -> int:
        """The last leader epoch, -1 if there was none."""
        return self.leader_epochs.latest

    # Leader epochs.

    def assign_epoch_start(self, epoch: int) -> None:
        """Let ``epoch`` begin at the log end, on the platter, before its first record (R8)."""
        with storage_errors(self.directory):
            self.leader_epochs.assign(epoch, self.log_end_offset)

    def end_offset_for_epoch(self, leader_epoch: int) -> tuple[int, int]:
        """The largest epoch up to ``leader_epoch`` and where it ends; (-1, -1) if unknown (R7)."""
        return self.leader_epochs.end_offset_for(leader_epoch, self.log_end_offset)

    # The start and the end.

    def advance_log_start(self, offset: int, high_watermark: int) -> None:
        """Let the log begin at ``offset`` (DeleteRecords); the segments before it may go.

        On the platter when the shell writes the log start checkpoint. Raises OffsetOutOfRange
        above the high watermark; below the log start nothing happens.
        """
        if not 0 <= offset <= high_watermark:
            raise OffsetOutOfRange(f"log start {offset} above high watermark {high_watermark}")
        if offset > self.log_start_offset:
            self.log_start_offset = offset
            self.leader_epochs.truncate_from_start(offset)
            self.producers.on_high_watermark(offset)

    def truncate_to(self, offset: int, *, now_ms: int) -> bool:
        """Drop everything at and behind ``offset``; whether there was anything to drop.

        A batch that holds the offset goes as a whole. Producers are rebuilt before this returns
        (L9), and epochs that left nothing go even when no record does (R9).
        """
        assert offset >= 0, f"truncate to {offset}"
        if offset >= self.log_end_offset:
            self.leader_epochs.truncate_from_end(self.log_end_offset)
            return False
        if offset < self.segments[0].base_offset:
            self.truncate_fully_and_start_at(offset, now_ms=now_ms)
            return True
        self._truncations += 1
        self._settled_end = -1
        with storage_errors(self.directory):
            number = self.segments.number_of(offset)
            self._remove_segments(number + 1)
            self.segments.active.truncate_to(offset)
            # On the platter before anything is written behind it: a power cut must not bring the
            # old records back in front of new ones.
            self.segments.active.file.sync()
            self.log_end_offset = offset
            self.log_start_offset = min(self.log_start_offset, offset)
            self.recovery_point = min(self.recovery_point, offset)
            self.first_dirty_offset = min(self.first_dirty_offset, offset)
            self.leader_epochs.truncate_from_end(offset)
            self._snapshots.remove_after(offset)
            rebuild_producers(
                self.producers,
                self.segments.as_list(),
                self._snapshots,
                end_offset=offset,
                now_ms=now_ms,
            )
        return True

    def truncate_fully_and_start_at(self, offset: int, *, now_ms: int) -> None:
        """Drop everything and go on at ``offset``, as a follower does that was left behind."""
        self._truncations += 1
        self._settled_end = -1
        with storage_errors(self.directory):
            self._snapshots.remove_after(-1)
            old = self.segments.as_list()
            for segment in reversed(old):
                segment.release()
                remove_segment_files(self._disk, self.directory, segment.base_offset)
            self.segments = Segments(
                [Segment.create(self._disk, self.directory, offset, now_ms=now_ms)]
            )
            self.leader_epochs.clear()
        self.producers.clear()
        self.log_start_offset = self.log_end_offset = self.recovery_point = offset
        self.first_dirty_offset = min(self.first_dirty_offset, offset)

    def _remove_segments(self, first: int) -> None:
        """Remove the segments from this place on, the last one first, so that no gap is left."""
        removed = self.segments.remove(first, len(self.segments))
        for segment in reversed(removed):
            remove_segment_files(self._disk, self.directory, segment.base_offset)
        if removed:
            self._disk.sync_directory(self.directory)

    # Segments come and go.

    def _ready_segment(
        self, first_offset: int, last_offset: int, size_bytes: int, timestamp_ms: int, now_ms: int
    ) -> Segment:
        """The segment for these batches: the active one, or a new one if it is due."""
        config = self._config
        if size_bytes > config.segment_bytes:
            raise RecordListTooLarge(
                f"{size_bytes} bytes do not fit into a segment of {config.segment_bytes}"
            )
        with storage_errors(self.directory):
            if self.segments.active.due_for_roll(
                config,
                size_bytes=size_bytes,
                last_offset=last_offset,
                timestamp_ms=timestamp_ms,
                now_ms=now_ms,
            ):
                # At the log end, also where a follower goes on behind a gap that compaction left:
                # after a crash, a segment that does not begin where the last one ended is one
                # too many. Only offsets too far away for the indexes need a base of their own.
                is_near = last_offset - self.log_end_offset <= MAX_RELATIVE_OFFSET
                self._roll(self.log_end_offset if is_near else first_offset, now_ms)
            active = self.segments.active
            active.prepare(config, timestamp_ms=timestamp_ms)
        return active

    def due_for_roll(self, now_ms: int) -> bool:
        """Whether the active segment is older than ``segment.ms`` by the clock."""
        active = self.segments.active
        if active.size_bytes == 0:
            return False
        return active.waited_ms(now_ms, now_ms) > max_segment_ms(self._config)

    def roll(self, now_ms: int) -> None:
        """Begin a new segment, unless the active one is still empty."""
        if self.segments.active.size_bytes:
            self._roll(self.log_end_offset, now_ms)

    def _roll(self, base_offset: int, now_ms: int) -> None:
        """Close the active segment and begin one at ``base_offset``, with a snapshot (P8)."""
        with storage_errors(self.directory):
            self.segments.active.save_indexes()
            self._snapshots.take(base_offset, self.producers.entries.values(), sync=False)
            if self.recovery_point == self.log_end_offset:
                # No flush comes back to this segment, and no recovery: what lies beside its
                # batches must be safe now.
                beside = self._side_files(self.segments.active, base_offset)
                self._flush_job([], beside, -1).run()
            segment = Segment.create(self._disk, self.directory, base_offset, now_ms=now_ms)
        self.segments.add(segment)
        self._settled_end = -1

    def delete_old_segments(self, high_watermark: int, now_ms: int) -> list[DeletedSegment]:
        """Take segments out of the log that retention or the log start leaves behind.

        Their files are renamed at once; `DeletedSegment.purge` is for later.
        """
        count = deletable_segments(
            self.segments.as_list(),
            self._config,
            log_start_offset=self.log_start_offset,
            log_end_offset=self.log_end_offset,
            high_watermark=high_watermark,
            now_ms=now_ms,
            modified_ms=lambda segment: self._disk.modified_ms(segment.path()),
        )
        if not count:
            return []
        if count == len(self.segments):
            self.roll(now_ms)
        log_start_offset = max(self.log_start_offset, self.segments[count].base_offset)
        self.advance_log_start(log_start_offset, high_watermark)
        with storage_errors(self.directory):
            removed = self.segments.remove(0, count)
            deleted = [mark_deleted(self._disk, segment, self._snapshots) for segment in removed]
            self._disk.sync_directory(self.directory)
            return deleted

    def swap_cleaned(self, replacements: Sequence[Replacement]) -> list[DeletedSegment]:
        """Let the segments that compaction wrote take the place of others (L8).

        The files of the old ones are renamed; `DeletedSegment.purge` is for later.
        """
        return swap_in(self._disk, self.directory, self.segments, self._snapshots, replacements)

    # To the platter.

    def flush_target(self, *, now_ms: int = -1) -> FlushJob | None:
        """A job that makes everything up to now safe, for a thread; None if it is already.

        The indexes of the active segment are not part of it: a start after a crash builds them
        anew. Those of segments that the recovery point passes are never looked at again, so they
        must be sound before it does.
        """
        if self.recovery_point >= self.log_end_offset:
            return None
        unflushed = self.segments.as_list()[self.segments.number_of(self.recovery_point) :]
        paths = []
        for segment, later in pairwise(unflushed):
            paths += self._side_files(segment, later.base_offset)
        with storage_errors(self.directory):
            return self._flush_job(unflushed, paths, now_ms)

    def _side_files(self, segment: Segment, end_offset: int) -> list[str]:
        """The paths of the indexes of a segment and of the snapshot behind it."""
        indexes = [segment.path(kind) for kind in file_names.SEGMENT_KINDS[1:]]
        return [*indexes, self._snapshots.path(end_offset)]

    def _flush_job(self, segments: list[Segment], paths: list[str], now_ms: int) -> FlushJob:
        files = []
        for segment in segments:
            self.segments.note_reading(segment)
            files.append(segment.file)
        return FlushJob(
            self._disk,
            files,
            open_for_sync(self._disk, self.directory, paths),
            offset=self.log_end_offset,
            truncations=self._truncations,
            now_ms=now_ms,
        )

    def on_flushed(self, job: FlushJob) -> None:
        """Move the recovery point behind what the job has made safe (L2)."""
        if job.truncations == self._truncations:
            assert job.offset <= self.log_end_offset, "the log shrank without a truncation"
            self.recovery_point = max(self.recovery_point, job.offset)
            self.last_flush_ms = max(self.last_flush_ms, job.now_ms)

    def flush(self, *, now_ms: int = -1) -> None:
        """Make everything safe now, in this thread; DiskFailed if the disk does not."""
        job = self.flush_target(now_ms=now_ms)
        if job is not None:
            job.run()
            self.on_flushed(job)

    def close(self, clean: bool = True) -> None:
        """Let go of the files; if ``clean``, the next start finds everything in order.

        The recovery point is the log end then, and the shell writes the checkpoints and the clean
        shutdown marker after all logs have come here (R17). A log that nothing was done to since
        a clean start is on the platter already.
        """
        if clean and (self._settled_end != self.log_end_offset or not self.leader_epochs.is_saved):
            with storage_errors(self.directory):
                self._settle()
        for segment in self.segments:
            segment.release()

    def _settle(self) -> None:
        """Write and sync everything that a clean start reads."""
        segments = self.segments.as_list()
        unflushed = segments[self.segments.number_of(self.recovery_point) :]
        self.segments.active.save_indexes()
        self._snapshots.take(self.log_end_offset, self.producers.entries.values(), sync=False)
        if not self.leader_epochs.is_saved:
            self.leader_epochs.save()
        paths = []
        for segment, later in pairwise(unflushed):
            paths += self._side_files(segment, later.base_offset)
        paths += self._side_files(self.segments.active, self.log_end_offset)
        job = self._flush_job(unflushed, paths, -1)
        job.run()
        self.on_flushed(job)
        self._settled_end = self.log_end_offset

    def delete_directory(self, unique_id: str) -> DeletedDirectory:
        """Rename the directory to ``<topic>-<partition>.<unique id>-delete``; purge it later."""
        self.close(clean=False)
        parent, _, name = self.directory.rpartition("/")
        path = f"{parent}/{deleted_directory_name(name, unique_id)}"
        with storage_errors(self.directory):
            self._disk.rename(self.directory, path)
            self._disk.sync_directory(parent)
        return DeletedDirectory(self._disk, path)
