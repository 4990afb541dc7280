"""Which segments of a log may go: by age, by size, and below the log start.

Only whole segments from the front go, and none with an offset at or behind the high watermark,
so that the log start never passes it (R20). The last one may be among them; the log then rolls.
"""

from collections.abc import Callable, Sequence

from kbroker.config import TopicConfig
from kbroker.log.segment import Segment


def deletable_segments(
    segments: Sequence[Segment],
    config: TopicConfig,
    *,
    log_start_offset: int,
    log_end_offset: int,
    high_watermark: int,
    now_ms: int,
    modified_ms: Callable[[Segment], int],
) -> int:
    """How many segments from the front may go now, for any of the three reasons.

    Kafka asks for one reason after the other and deletes in between; the first segment that none
    of them wants gone is the same.
    """
    count = 0
    excess_bytes = -1
    if config.delete and config.retention_bytes >= 0:
        excess_bytes = sum(segment.size_bytes for segment in segments) - config.retention_bytes
    for number, segment in enumerate(segments):
        is_last = number + 1 == len(segments)
        end_offset = log_end_offset if is_last else segments[number + 1].base_offset
        if high_watermark < end_offset or (is_last and segment.size_bytes == 0):
            break
        below_start = not is_last and end_offset <= log_start_offset
        too_much = excess_bytes >= segment.size_bytes and segment.size_bytes > 0
        if not (below_start or too_much or _is_too_old(segment, config, now_ms, modified_ms)):
            break
        excess_bytes -= segment.size_bytes
        count += 1
    return count


def _is_too_old(
    segment: Segment, config: TopicConfig, now_ms: int, modified_ms: Callable[[Segment], int]
) -> bool:
    """Whether the newest record is; by the time of the file if no record has a timestamp."""
    if not config.delete or config.retention_ms < 0:
        return False
    newest_ms = segment.load_max_timestamp()
    if newest_ms < 0:
        newest_ms = modified_ms(segment)
    if now_ms - newest_ms <= config.retention_ms:
        return False
    # An index that rotted must not cost anybody records.
    confirmed_ms = segment.confirm_max_timestamp()
    return confirmed_ms < 0 or now_ms - confirmed_ms > config.retention_ms
