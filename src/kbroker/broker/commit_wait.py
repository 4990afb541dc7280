"""Waiting until appends are committed: the second half of a produce with acks=all."""

from collections.abc import Sequence

import trio

from kbroker.broker.partition import Partition


class CommitWait:
    """Waits until every partition's high watermark has passed what was appended to it.

    It watches from the moment it is made, so it must be made before anyone else runs.
    """

    __slots__ = ("_changed", "_waiting")

    def __init__(self, appended: Sequence[tuple[Partition, int]]) -> None:
        self._changed = trio.Event()
        self._waiting = [
            (partition, last_offset)
            for partition, last_offset in appended
            if partition.high_watermark <= last_offset
        ]
        for partition, _ in self._waiting:
            partition.watchers[self] = None

    @property
    def done(self) -> bool:
        """Whether there is nothing left to wait for."""
        return not self._waiting

    def touch(self, partition: Partition) -> None:  # noqa: ARG002 - all are looked at
        """One of them changed."""
        self._changed.set()

    async def wait_until(self, deadline: float) -> frozenset[Partition]:
        """Wait; gives the partitions that did not make it in time or went offline."""
        watched = [partition for partition, _ in self._waiting]
        try:
            with trio.move_on_at(deadline):
                while self._still_waiting():
                    await self._changed.wait()
                    self._changed = trio.Event()
            return frozenset(
                partition
                for partition, last_offset in self._waiting
                if partition.high_watermark <= last_offset
            )
        finally:
            for partition in watched:
                partition.watchers.pop(self, None)

    def _still_waiting(self) -> bool:
        return any(
            partition.high_watermark <= last_offset and not partition.offline
            for partition, last_offset in self._waiting
        )
