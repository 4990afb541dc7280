"""What the tests of compaction share: topics to compact, a round of it, and two readers."""

from dataclasses import dataclass
from pathlib import Path

from kbroker.log import Cleaned, PartitionLog, assess, begin_cleaning, finish_cleaning
from kbroker.log.compaction import DEFAULT_MEMORY_BYTES
from kbroker.records import (
    BatchHeader,
    Record,
    build_batch,
    crc_matches,
    marker_of,
    parse_records,
    scan_batches,
)
from tests.log.samples import NOW_MS, append, content, open_log, topic_config

DELETE_RETENTION_MS = 60_000
COMPACT = topic_config(
    compact=True,
    delete=False,
    segment_bytes=1 << 20,
    index_interval_bytes=100,
    min_cleanable_dirty_ratio=0.0,
    delete_retention_ms=DELETE_RETENTION_MS,
)


def keyed(*pairs: tuple[bytes | None, bytes | None], timestamp_ms: int = NOW_MS, **fields: object):
    """A batch with one record per key and value."""
    records = [Record(n, timestamp_ms, key, value) for n, (key, value) in enumerate(pairs)]
    return build_batch(records, **fields)


def transactional(sequence: int, *pairs, producer_id: int = 7, epoch: int = 0):
    return keyed(
        *pairs,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=True,
    )


def clean(
    log: PartitionLog,
    *,
    high_watermark: int | None = None,
    now_ms: int = NOW_MS,
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
    purge: bool = True,
) -> Cleaned:
    """One round of compaction, from the plan to the removal of the old files."""
    mark = log.log_end_offset if high_watermark is None else high_watermark
    cleanable = assess(log, mark, now_ms)
    assert cleanable is not None, "there is nothing to clean"
    job = begin_cleaning(cleanable, now_ms=now_ms, memory_bytes=memory_bytes)
    job.run()
    cleaned = finish_cleaning(job)
    if purge:
        for segment in cleaned.deleted_segments:
            segment.purge()
    return cleaned


@dataclass(frozen=True)
class Batch:
    header: BatchHeader
    records: list[Record]


def batches(log: PartitionLog) -> list[Batch]:
    """All batches of the log, checked as a consumer checks them."""
    found: list[Batch] = []
    offset = log.log_start_offset
    while data := content(log.read(offset, 1 << 24, up_to=log.log_end_offset)):
        for position, header in scan_batches(data):
            assert crc_matches(data, position, header)
            found.append(Batch(header, parse_records(data, header, position)))
        offset = found[-1].header.next_offset
    return found


def records(log: PartitionLog) -> list[tuple[int, bytes | None, bytes | None]]:
    """Offset, key and value of all data records."""
    return [
        (record.offset, record.key, record.value)
        for batch in batches(log)
        if not batch.header.is_control
        for record in batch.records
    ]


def committed_records(log: PartitionLog) -> list[Record]:
    """What a consumer with read_committed gets, by the rules of consumers (T10)."""
    upcoming = sorted(
        log.aborted_transactions(log.log_start_offset, log.log_end_offset),
        key=lambda transaction: transaction.first_offset,
    )
    aborted: set[int] = set()
    found = []
    for batch in batches(log):
        header = batch.header
        while upcoming and upcoming[0].first_offset <= header.last_offset:
            aborted.add(upcoming.pop(0).producer_id)
        if header.is_control:
            marker = marker_of(batch.records[0]) if batch.records else None
            if marker is not None and not marker.committed:
                aborted.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborted):
            found += batch.records
    return found


def final_values(log: PartitionLog) -> dict[bytes, bytes]:
    """What is left of each key when all is read from the beginning (C7); tombstones delete."""
    values: dict[bytes, bytes] = {}
    for record in committed_records(log):
        if record.key is None:
            continue
        if record.value is None:
            values.pop(record.key, None)
        else:
            values[record.key] = record.value
    return values


def files(log: PartitionLog) -> list[str]:
    return sorted(log.disk.files(log.directory))


def fill(log: PartitionLog, *sent: bytearray) -> None:
    """Append batches, one segment each."""
    for batch in sent:
        append(log, batch)
        log.roll(NOW_MS)


def reopened(log: PartitionLog, *, clean_stop: bool = True) -> PartitionLog:
    """The log after a restart."""
    log.close(clean=clean_stop)
    again = open_log(
        Path(log.directory).parent,
        config=log.config,
        recovery_point=log.recovery_point,
        log_start_offset=log.log_start_offset,
        clean=clean_stop,
    )
    again.first_dirty_offset = log.first_dirty_offset
    return again
