"""Offsets by time: what ListOffsets asks for."""

from typing import NamedTuple

from kbroker.log.segment import Segment
from kbroker.log.segments import Segments
from kbroker.records import NO_TIMESTAMP, BatchHeader, iterate_records


class FoundOffset(NamedTuple):
    """A record's offset, its timestamp, and the leader epoch it was written in."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


def find_by_timestamp(
    segments: Segments, timestamp_ms: int, *, start_offset: int
) -> FoundOffset | None:
    """The first record at or behind ``start_offset`` that is not older than ``timestamp_ms``."""
    for segment in segments:
        if segment.load_max_timestamp() < timestamp_ms:
            continue
        segments.note_reading(segment)
        entry = segment.time_entry(timestamp_ms)
        start = segment.offset_index.lookup(
            max(entry.relative_offset, start_offset - segment.base_offset)
        )
        for position, header in segment.file.headers(start, segment.size_bytes):
            if header.max_timestamp_ms >= timestamp_ms and header.last_offset >= start_offset:
                batch = segment.file.read(position, header.size_bytes)
                for record in iterate_records(batch, header):
                    if record.timestamp_ms >= timestamp_ms and record.offset >= start_offset:
                        return _found(header, record.offset, record.timestamp_ms)
    return None


def find_max_timestamp(segments: Segments) -> FoundOffset | None:
    """The first record with the largest timestamp of all; None if no record has one."""
    segment = max(segments, key=Segment.load_max_timestamp)
    max_timestamp_ms = segment.confirm_max_timestamp()
    if max_timestamp_ms == NO_TIMESTAMP:
        return None
    segments.note_reading(segment)
    start = segment.offset_index.lookup(segment.max_timestamp_offset - segment.base_offset)
    for position, header in segment.file.headers(start, segment.size_bytes):
        if header.max_timestamp_ms == max_timestamp_ms:
            if header.is_log_append_time:
                return _found(header, header.base_offset, max_timestamp_ms)
            batch = segment.file.read(position, header.size_bytes)
            for record in iterate_records(batch, header):
                if record.timestamp_ms == max_timestamp_ms:
                    return _found(header, record.offset, max_timestamp_ms)
    return None


def _found(header: BatchHeader, offset: int, timestamp_ms: int) -> FoundOffset:
    return FoundOffset(offset, timestamp_ms, header.partition_leader_epoch)
