"""Compaction, driven: one round after another for whichever log is dirtiest (Kafka's LogCleaner).

The log package decides what may be cleaned and how. This task picks a log, has a thread copy what
stays, swaps the new segments in between two awaits, hands the old files to upkeep, and writes the
cleaner's checkpoint. With nothing to do it rests for `log.cleaner.backoff.ms`.

A log that cannot be cleaned, because a batch in it cannot be read, is left alone until the next
start, as in Kafka. Neither that nor anything else stops the task.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import trio

from kbroker.broker.clock import Clock
from kbroker.broker.partition import Partition
from kbroker.broker.partitions import Partitions
from kbroker.config import BrokerConfig
from kbroker.log import (
    Cleanable,
    CleaningAborted,
    DeletedSegment,
    DiskFailed,
    StorageError,
    assess,
    begin_cleaning,
    finish_cleaning,
)
from kbroker.telemetry.log_lines import get_logger

log = get_logger("cleaner")

# After so many partitions a look at all of them lets others run.
_PARTITIONS_PER_STEP = 20
# After so many bytes the thread looks whether it shall stop or wait.
_THROTTLE_STEP_BYTES = 1 << 20
# Kafka's default for the rate is the largest double; above this nobody waits.
_UNLIMITED = 1e15


class Cleaning:
    """The compaction of one broker; at most one log at a time."""

    def __init__(
        self,
        partitions: Partitions,
        clock: Clock,
        config: Callable[[], BrokerConfig],
        condemn: Callable[[Sequence[DeletedSegment], float], None],
    ) -> None:
        self._partitions = partitions
        self._clock = clock
        self._config = config
        self._condemn = condemn
        self.uncleanable: set[Partition] = set()

    async def run(self) -> None:
        """Clean whatever is dirty, until cancelled; nothing if `log.cleaner.enable` is false."""
        if not self._config().get_bool("log.cleaner.enable"):
            return
        while True:
            if not await self.clean_dirtiest():
                backoff_s = self._config().get_int("log.cleaner.backoff.ms") / 1000
                await trio.sleep(min(backoff_s, 86_400.0))

    async def clean_dirtiest(self) -> bool:
        """One round for the dirtiest log; whether there was one and it is cleaner now."""
        await trio.lowlevel.checkpoint()
        now_ms = self._clock.timestamp_ms()
        found = await self._find_dirtiest(now_ms)
        if found is None:
            return False
        partition, cleanable = found
        with self._guarding(partition):
            await self._clean(partition, cleanable, now_ms)
        return partition.log.first_dirty_offset > cleanable.first_dirty_offset

    async def _find_dirtiest(self, now_ms: int) -> tuple[Partition, Cleanable] | None:
        open_now = self._partitions.all()
        self.uncleanable.intersection_update(open_now)
        dirtiest: tuple[Partition, Cleanable] | None = None
        for number, partition in enumerate(open_now):
            if number % _PARTITIONS_PER_STEP == 0:
                await trio.lowlevel.checkpoint()
            if partition.offline or partition in self.uncleanable:
                continue
            with self._guarding(partition):
                cleanable = assess(partition.log, partition.high_watermark, now_ms)
                if cleanable is None or not cleanable.is_worth_it:
                    continue
                if dirtiest is None or cleanable.ratio > dirtiest[1].ratio:
                    dirtiest = partition, cleanable
        return dirtiest

    async def _clean(self, partition: Partition, cleanable: Cleanable, now_ms: int) -> None:
        config = self._config()
        # What was found may be old by now: others ran since.
        latest = assess(partition.log, partition.high_watermark, now_ms)
        if latest is None or not self._is_served(partition):
            raise CleaningAborted(f"{partition.topic_partition} has nothing to clean any more")
        job = begin_cleaning(
            latest,
            now_ms=now_ms,
            memory_bytes=config.get_int("log.cleaner.dedupe.buffer.size"),
        )
        throttle = _Throttle(config.get_float("log.cleaner.io.max.bytes.per.second"))
        await trio.to_thread.run_sync(job.run, throttle)
        if not self._is_served(partition):
            job.discard()
            raise CleaningAborted(f"{partition.topic_partition} is not served any more")
        cleaned = finish_cleaning(job)
        self._condemn(cleaned.deleted_segments, partition.log.config.file_delete_delay_ms / 1000)
        stats = cleaned.stats
        log.info(
            "log compacted",
            partition=partition.topic_partition,
            first_dirty_offset=cleaned.first_dirty_offset,
            dirty_ratio=round(cleanable.ratio, 3),
            bytes_before=stats.bytes_read,
            bytes_after=stats.bytes_written,
            records_before=stats.records_read,
            records_after=stats.records_written,
        )
        if stats.keyless_records:
            log.warning(
                "records without a key dropped",
                partition=partition.topic_partition,
                records=stats.keyless_records,
            )
        await self._partitions.checkpoint_cleaner()

    def _is_served(self, partition: Partition) -> bool:
        found, _ = self._partitions.find(*partition.topic_partition)
        return found is partition and not partition.offline

    @contextmanager
    def _guarding(self, partition: Partition) -> Iterator[None]:
        """Let no trouble with one log stop the task."""
        name = partition.topic_partition
        try:
            yield
        except CleaningAborted as error:
            log.info("compaction undone", partition=name, reason=str(error))
        except DiskFailed as error:
            self._partitions.take_offline(partition, error)
        except StorageError as error:  # a full disk, perhaps; the next turn tries again
            log.warning("compaction failed", partition=name, reason=str(error))
        except Exception as error:  # one pass of upkeep (STYLE 14)
            self.uncleanable.add(partition)
            log.failure("compaction failed, the log is left alone", error, partition=name)


class _Throttle:
    """Called in the thread with the bytes that were read or written."""

    def __init__(self, bytes_per_s: float) -> None:
        self._bytes_per_s = bytes_per_s
        self._pending_bytes = 0

    def __call__(self, byte_count: int) -> None:
        """Wait as long as the rate demands; raises trio.Cancelled when the broker stops."""
        self._pending_bytes += byte_count
        if self._pending_bytes < min(_THROTTLE_STEP_BYTES, self._bytes_per_s):
            return
        if self._bytes_per_s < _UNLIMITED:
            trio.from_thread.run(trio.sleep, self._pending_bytes / self._bytes_per_s)
        else:
            trio.from_thread.check_cancelled()
        self._pending_bytes = 0
