"""A segment that compaction writes, under names in ``.cleaned`` until it is swapped in."""

from collections.abc import Sequence

from kbroker.log import file_names
from kbroker.log.disk import Disk
from kbroker.log.file_names import file_path
from kbroker.log.segment import Segment
from kbroker.log.transaction_index import AbortedEntry
from kbroker.records import Buffer, read_header

# Batches are gathered to pieces of this size before they are written.
_CHUNK_BYTES = 1 << 20


class CleanedSegment(Segment):
    """The files of a new segment: `begin`, `append` what stays, `finish`."""

    __slots__ = ("_interval_bytes", "_pending", "_pending_bytes")

    def __init__(
        self, disk: Disk, directory: str, base_offset: int, *, interval_bytes: int
    ) -> None:
        super().__init__(disk, directory, base_offset, size_bytes=0, created_ms=0)
        self._interval_bytes = interval_bytes
        self._pending: list[Buffer] = []
        self._pending_bytes = 0

    def path(self, kind: str = file_names.LOG, fate: str = file_names.CLEANED) -> str:
        """The path of one of the files, with ``.cleaned``."""
        return file_path(self._directory, self.base_offset, kind, fate)

    def begin(self) -> None:
        """Make an empty file; what an earlier attempt left goes."""
        self.discard()
        self._disk.write_file(self.path(), b"", sync=False)
        self.begin_rebuild()

    def append(self, batch: Buffer) -> None:
        """Add a batch behind the others."""
        header = read_header(batch)
        assert header.size_bytes == len(batch), "one batch at a time"
        self.index_batch(
            self.size_bytes + self._pending_bytes,
            header.last_offset,
            header.max_timestamp_ms,
            header.size_bytes,
            self._interval_bytes,
        )
        self._pending.append(batch)
        self._pending_bytes += len(batch)
        if self._pending_bytes >= _CHUNK_BYTES:
            self._write_pending()

    def _write_pending(self) -> None:
        self._disk.write_all(self.file.file_descriptor, b"".join(self._pending))
        self.size_bytes += self._pending_bytes
        self._pending = []
        self._pending_bytes = 0

    def finish(self, aborted: Sequence[AbortedEntry], *, modified_ms: int) -> None:
        """Complete the files and bring them to the platter.

        The file is as old as the last one it replaces: retention goes by that where records have
        no timestamps.
        """
        self._write_pending()
        self.save_indexes()
        if aborted:
            self.transaction_index.rewrite(aborted)
            self.has_aborted = True
        self._disk.set_modified_ms(self.path(), modified_ms)
        for kind in file_names.SEGMENT_KINDS:
            if kind != file_names.TRANSACTION_INDEX or aborted:
                file_descriptor = self._disk.open_reading(self.path(kind))
                try:
                    self._disk.sync(file_descriptor)
                finally:
                    self._disk.close(file_descriptor)
        self.release()

    def discard(self) -> None:
        """Remove the files."""
        self.release()
        for kind in file_names.SEGMENT_KINDS:
            self._disk.unlink(self.path(kind))

    def as_segment(self, *, created_ms: int) -> Segment:
        """The segment that it is once the files have their final names."""
        segment = Segment(
            self._disk,
            self._directory,
            self.base_offset,
            size_bytes=self.size_bytes,
            created_ms=created_ms,
        )
        segment.has_aborted = self.has_aborted
        return segment
