"""What must be done now and then: retention, checkpoints, flushing by time, expiry.

Each duty has its own task and its own interval, under Kafka's config names. A pass that fails is
logged and tried again at the next turn; one partition's trouble must not stop the others. Files
are touched in threads or in small steps, so that no pass holds up the loop.
"""

from collections.abc import Awaitable, Callable, Sequence

import trio

from kbroker.broker.cleaning import Cleaning
from kbroker.broker.clock import Clock
from kbroker.broker.flushing import Flusher
from kbroker.broker.partition import Partition
from kbroker.broker.partitions import Partitions
from kbroker.broker.refusals import REFUSED
from kbroker.config import BrokerConfig
from kbroker.log import DeletedSegment
from kbroker.telemetry.log_lines import get_logger

log = get_logger("upkeep")

# How late a flush by time may come.
_FLUSH_CHECK_S = 1.0
# After so many partitions a pass lets others run.
_PARTITIONS_PER_STEP = 20
# How long a partition that could not be opened waits for the next attempt.
_OPEN_S = 5.0


class Upkeep:
    """The periodic duties of one broker."""

    def __init__(
        self,
        partitions: Partitions,
        flusher: Flusher,
        clock: Clock,
        config: Callable[[], BrokerConfig],
    ) -> None:
        self._partitions = partitions
        self._flusher = flusher
        self._clock = clock
        self._config = config
        # Segments that are out of the log and wait for `file.delete.delay.ms`: when, and which.
        self._condemned: list[tuple[float, DeletedSegment]] = []
        self.cleaning = Cleaning(partitions, clock, config, self.condemn)

    async def run(self) -> None:
        """Do all duties until cancelled."""
        async with trio.open_nursery() as nursery:
            for name, duty, interval in (
                ("retention", self.retain, "log.retention.check.interval.ms"),
                ("checkpoint", self.checkpoint, "log.flush.offset.checkpoint.interval.ms"),
                (
                    "high watermark checkpoint",
                    self.checkpoint_high_watermarks,
                    "replica.high.watermark.checkpoint.interval.ms",
                ),
                (
                    "producer expiry",
                    self.expire_producers,
                    "producer.id.expiration.check.interval.ms",
                ),
            ):
                nursery.start_soon(self._repeat, name, duty, interval, name=name)
            nursery.start_soon(self._purge_condemned, name="purge")
            nursery.start_soon(self._flush_now_and_then, name="flush by time")
            nursery.start_soon(self._open_unopened, name="open")
            nursery.start_soon(self.cleaning.run, name="cleaner")

    async def _repeat(self, name: str, duty: Callable[[], Awaitable[None]], interval: str) -> None:
        while True:
            # Kafka's "never" for an interval is the largest long, which trio cannot sleep.
            await trio.sleep(min(self._config().get_int(interval) / 1000, 86_400.0))
            try:
                await duty()
            except Exception as error:  # one pass of upkeep (STYLE 14)
                log.failure("upkeep failed", error, duty=name)

    async def _each(self, step: Callable[[Partition], None]) -> None:
        for number, partition in enumerate(self._partitions.all()):
            if number % _PARTITIONS_PER_STEP == 0:
                await trio.lowlevel.checkpoint()
            if partition.offline:
                continue
            try:
                step(partition)
            except REFUSED as error:
                name = partition.topic_partition
                log.error("upkeep of a partition failed", partition=name, reason=str(error))

    async def retain(self) -> None:
        """Delete segments that are too old or too many (retention.ms, retention.bytes)."""
        now_ms = self._clock.timestamp_ms()
        await self._each(lambda partition: self.retain_one(partition, now_ms))

    def retain_one(self, partition: Partition, now_ms: int) -> None:
        """The same for one partition; the files go after `file.delete.delay.ms`."""
        deleted = partition.log.delete_old_segments(partition.high_watermark, now_ms)
        if deleted:
            log.info(
                "segments deleted",
                partition=partition.topic_partition,
                segments=len(deleted),
                log_start_offset=partition.log.log_start_offset,
            )
            self.condemn(deleted, partition.log.config.file_delete_delay_ms / 1000)
            partition.notify()

    def condemn(self, segments: Sequence[DeletedSegment], delay_s: float) -> None:
        """Unlink the files of segments that are out of the log, after a while."""
        at = self._clock.now() + delay_s
        self._condemned += [(at, segment) for segment in segments]

    async def _purge_condemned(self) -> None:
        while True:
            await trio.sleep(1)
            now = self._clock.now()
            due = [segment for at, segment in self._condemned if at <= now]
            if due:
                self._condemned = [entry for entry in self._condemned if entry[0] > now]
                await trio.to_thread.run_sync(_purge, due)
            await self._partitions.purge(now=now)

    async def _open_unopened(self) -> None:
        while True:
            await trio.sleep(_OPEN_S)
            await self._partitions.open_unopened()

    def purge_now(self) -> None:
        """Unlink all that waits; at shutdown."""
        _purge([segment for _, segment in self._condemned])
        self._condemned.clear()

    async def _flush_now_and_then(self) -> None:
        """Kafka leaves this to `log.flush.scheduler.interval.ms`, whose default is never."""
        while True:
            await trio.sleep(_FLUSH_CHECK_S)
            await self.flush_overdue()

    async def flush_overdue(self) -> None:
        """Ask for a flush of what is unflushed for longer than `flush.ms`, and of full segments.

        A segment that was rolled is flushed soon after, as in Kafka: what lies behind the recovery
        point is read again after a crash, and that should be one segment and not all of them.
        """
        now_ms = self._clock.timestamp_ms()

        def step(partition: Partition) -> None:
            log = partition.log
            if not log.unflushed_messages:
                return
            overdue = now_ms - log.last_flush_ms >= log.config.flush_ms
            if overdue or log.recovery_point < log.segments.active.base_offset:
                self._flusher.request(partition)

        await self._each(step)

    async def checkpoint(self) -> None:
        """Write recovery points and log starts."""
        await self._partitions.checkpoint()

    async def checkpoint_high_watermarks(self) -> None:
        """Write high watermarks."""
        await self._partitions.checkpoint_high_watermarks()

    async def expire_producers(self) -> None:
        """Forget producers that were silent for `producer.id.expiration.ms`."""
        now_ms = self._clock.timestamp_ms()
        await self._each(lambda partition: partition.log.producers.remove_expired(now_ms))


def _purge(segments: list[DeletedSegment]) -> None:
    for segment in segments:
        segment.purge()
