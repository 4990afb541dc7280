"""The segments of a log in the order of their offsets (Kafka's LogSegments), and reading them.

The last segment is the active one and stays open while it is used. Of the others only those that
were read last stay open, so a log of a thousand segments costs a handful of descriptors.
"""

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter

from kbroker.log.segment import Segment
from kbroker.log.transaction_index import AbortedEntry
from kbroker.model import FileSlice

# Segments behind the active one whose file and indexes stay open, for readers that catch up.
_OPEN_OLD_SEGMENTS = 4

_base_offset = attrgetter("base_offset")


class Segments:
    """At least one segment; ``active`` is the last."""

    __slots__ = ("_recently_read", "_segments", "active")

    def __init__(self, segments: list[Segment]) -> None:
        assert segments, "a log has at least one segment"
        self._segments = segments
        self.active = segments[-1]
        self._recently_read: list[Segment] = []

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    def __getitem__(self, number: int) -> Segment:
        return self._segments[number]

    def as_list(self) -> list[Segment]:
        """The segments, oldest first."""
        return list(self._segments)

    def number_of(self, offset: int) -> int:
        """The place of the segment that ``offset`` belongs to, the first one if it is before."""
        if offset >= self.active.base_offset:
            return len(self._segments) - 1
        return max(0, bisect_right(self._segments, offset, key=_base_offset) - 1)

    def add(self, segment: Segment) -> None:
        """Let a new segment be the active one."""
        assert segment.base_offset > self.active.base_offset, "segments rise"
        old = self.active
        self._segments.append(segment)
        self.active = segment
        self.note_reading(old)

    def remove(self, first: int, end: int) -> list[Segment]:
        """Take out the segments in these places; at least one must be left."""
        removed = self._segments[first:end]
        del self._segments[first:end]
        self.active = self._segments[-1]
        for segment in removed:
            segment.release()
            if segment in self._recently_read:
                self._recently_read.remove(segment)
        return removed

    def replace(self, first: int, end: int, segments: list[Segment]) -> list[Segment]:
        """Put others into the place of these; those that were there."""
        replaced = self._segments[first:end]
        self._segments[first:end] = segments
        self.active = self._segments[-1]
        for segment in replaced:
            segment.release()
            if segment in self._recently_read:
                self._recently_read.remove(segment)
        return replaced

    def note_reading(self, segment: Segment) -> None:
        """Keep an old segment open, and let go of the one that was read least recently.

        Whoever is about to open the file or an index of a segment says so here.
        """
        recent = self._recently_read
        if segment is self.active or (recent and recent[-1] is segment):
            return
        if segment in recent:
            recent.remove(segment)
        elif len(recent) == _OPEN_OLD_SEGMENTS:
            recent.pop(0).release()
        recent.append(segment)

    def read(
        self, offset: int, max_bytes: int, *, up_to: int, log_end_offset: int, at_least_one: bool
    ) -> FileSlice | None:
        """Batches of one segment from that with ``offset`` on, below ``up_to``; None if none.

        The slice is cut at ``max_bytes``, also inside a batch, but not inside the first one: that
        comes whole if ``at_least_one`` is wanted, else not at all. Consumers take bytes without a
        whole batch for a broker that cannot make progress.
        """
        for number in range(self.number_of(offset), len(self._segments)):
            segment = self._segments[number]
            if segment.base_offset >= up_to:
                return None
            self.note_reading(segment)
            start = segment.position_of(offset)
            if start is None:
                continue  # compaction left nothing at or behind the offset in this segment
            end = self._end_position(number, up_to, log_end_offset)
            length = end - start
            if length > max_bytes:
                if max_bytes <= 0 and not at_least_one:
                    return None
                _, header = next(segment.file.headers(start, segment.size_bytes))
                if max_bytes < header.size_bytes and not at_least_one:
                    return None
                length = min(length, max(max_bytes, header.size_bytes))
            if length <= 0:
                return None
            file = segment.file
            return FileSlice(file.file_descriptor, start, length, file)
        return None

    def _end_position(self, number: int, up_to: int, log_end_offset: int) -> int:
        """Where the batches of a segment end that are below ``up_to``."""
        segment = self._segments[number]
        if number + 1 < len(self._segments):
            if up_to >= self._segments[number + 1].base_offset:
                return segment.size_bytes
        elif up_to >= log_end_offset:
            # Whoever reads to the end comes back for what is appended next.
            segment.remember(log_end_offset, segment.size_bytes)
            return segment.size_bytes
        position = segment.position_of(up_to)
        return segment.size_bytes if position is None else position

    def upper_bound(self, file_slice: FileSlice, log_end_offset: int) -> int:
        """An offset behind all records of a slice, and not far behind them."""
        base_offset = getattr(file_slice.keeper, "base_offset", 0)
        number = self.number_of(base_offset)
        relative = self[number].offset_index.upper_bound(file_slice.position + file_slice.length)
        if relative is not None:
            return self[number].base_offset + relative
        return self[number + 1].base_offset if number + 1 < len(self) else log_end_offset

    def aborted(self, start_offset: int, end_offset: int) -> list[AbortedEntry]:
        """The aborted transactions with records in the range, in whatever segment they ended."""
        found = []
        for number in range(self.number_of(start_offset), len(self._segments)):
            segment = self._segments[number]
            if segment.has_aborted:
                self.note_reading(segment)
                entries, is_complete = segment.transaction_index.overlapping(
                    start_offset, end_offset
                )
                found += entries
                if is_complete:
                    break
        return found
