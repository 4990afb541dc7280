"""Group commit: one thread flushes for everyone who asked meanwhile.

While one round of `fdatasync` runs in a thread, further requests gather; the next round serves all
of them. So the number of flushes follows the speed of the disk, not the number of producers.

A failed flush takes the partition offline (L6): the kernel may have dropped the pages, so trying
again would report success for bytes that are gone.
"""

from collections.abc import Callable

import trio

from kbroker.broker.clock import Clock
from kbroker.broker.partition import Partition
from kbroker.log import FlushJob, LogError
from kbroker.telemetry.log_lines import get_logger

log = get_logger("flush")


class Flusher:
    """Collects flush requests and serves them in rounds."""

    def __init__(self, clock: Clock, on_failure: Callable[[Partition, LogError], None]) -> None:
        self._clock = clock
        self._wanted: dict[Partition, None] = {}
        self._asked = trio.Event()
        self._on_failure = on_failure

    def request(self, partition: Partition) -> None:
        """Flush ``partition`` in the next round."""
        self._wanted[partition] = None
        self._asked.set()

    async def run(self) -> None:
        """Serve rounds until cancelled; bytes that were asked for are flushed at shutdown too."""
        while True:
            await self._asked.wait()
            self._asked = trio.Event()
            await self.flush_wanted()

    async def flush_wanted(self) -> None:
        """One round: all that was asked for so far."""
        wanted, self._wanted = self._wanted, {}
        now_ms = self._clock.timestamp_ms()
        jobs = [
            (partition, job)
            for partition in wanted
            if (job := partition.log.flush_target(now_ms=now_ms)) is not None
        ]
        # Shielded: once the thread works on a descriptor, its result must reach the partition.
        with trio.CancelScope(shield=True):
            failures = await trio.to_thread.run_sync(_flush_all, [job for _, job in jobs])
        for (partition, job), failure in zip(jobs, failures, strict=True):
            if failure is None:
                partition.log.on_flushed(job)
                partition.on_flushed()
            else:
                self._on_failure(partition, failure)


def _flush_all(jobs: list[FlushJob]) -> list[LogError | None]:
    """Runs in a thread; touches descriptors only."""
    failures: list[LogError | None] = []
    for job in jobs:
        try:
            job.run()
        except LogError as error:
            failures.append(error)
        else:
            failures.append(None)
    return failures
