"""How much of a log compaction may work on, and whether it is worth it (LogCleanerManager).

        clean                 dirty                  not to be touched
    |----------------|------------------------|-----------------------------|
    first segment    first dirty offset       first uncleanable offset      log end

The first dirty offset is where the last round ended. From the first uncleanable offset on, which
is the beginning of a segment, the log is left alone: there is the active segment, or an offset at
or behind the last stable one, or a record younger than ``min.compaction.lag.ms`` (C1).
"""

from dataclasses import dataclass

from kbroker.log.partition_log import PartitionLog
from kbroker.log.segment import Segment

# `max.compaction.lag.ms` at this value forces nothing (Kafka's default).
_NEVER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Cleanable:
    """A log that has something to clean."""

    log: PartitionLog
    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    cleanable_bytes: int
    is_overdue: bool  # by max.compaction.lag.ms

    @property
    def ratio(self) -> float:
        """The share of dirty bytes, by which the dirtiest log is found."""
        return self.cleanable_bytes / (self.clean_bytes + self.cleanable_bytes)

    @property
    def is_worth_it(self) -> bool:
        """Whether the log is dirty enough, or overdue."""
        return self.is_overdue or self.ratio > self.log.config.min_cleanable_dirty_ratio


def assess(log: PartitionLog, high_watermark: int, now_ms: int) -> Cleanable | None:
    """What may be cleaned; None if the topic is not compacted or there is nothing."""
    if not log.config.compact:
        return None
    first_dirty_offset = log.first_dirty_offset
    # A checkpoint from before the log start, or from a longer log, says nothing about this one.
    if not log.log_start_offset <= first_dirty_offset <= log.log_end_offset:
        first_dirty_offset = log.log_start_offset
    segments = log.segments.as_list()
    dirty_number = log.segments.number_of(first_dirty_offset)
    limit = _first_uncleanable(log, segments[dirty_number:-1], high_watermark, now_ms)
    end_number = log.segments.number_of(limit)
    first_uncleanable_offset = segments[end_number].base_offset
    dirty = segments[dirty_number:end_number]
    cleanable_bytes = sum(segment.size_bytes for segment in dirty)
    if cleanable_bytes == 0:
        return None
    clean = [segment for segment in segments if segment.base_offset < first_dirty_offset]
    return Cleanable(
        log,
        first_dirty_offset,
        first_uncleanable_offset,
        sum(segment.size_bytes for segment in clean),
        cleanable_bytes,
        _is_overdue(log, dirty, now_ms),
    )


def _first_uncleanable(
    log: PartitionLog, dirty: list[Segment], high_watermark: int, now_ms: int
) -> int:
    limit = min(log.last_stable_offset(high_watermark), log.segments.active.base_offset)
    lag_ms = log.config.min_compaction_lag_ms
    if lag_ms > 0:
        for segment in dirty:
            if _newest_ms(log, segment) > now_ms - lag_ms:
                return min(limit, segment.base_offset)
    return limit


def _newest_ms(log: PartitionLog, segment: Segment) -> int:
    """The largest timestamp, or the time of the file if no record has one."""
    newest_ms = segment.load_max_timestamp()
    return newest_ms if newest_ms >= 0 else log.disk.modified_ms(segment.path())


def _is_overdue(log: PartitionLog, dirty: list[Segment], now_ms: int) -> bool:
    if log.config.max_compaction_lag_ms == _NEVER:
        return False
    clean_until_ms = now_ms - log.config.max_compaction_lag_ms
    return any(
        0 < segment.load_first_timestamp() < clean_until_ms
        for segment in dirty
        if segment.size_bytes
    )
