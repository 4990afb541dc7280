"""The recent past of a store, so that a watch can resume where it was.

A watch is a place in this history and nothing else: it has no queue of its own, so a slow reader
costs nothing, and one that falls behind the oldest remembered change is told `Compacted`.
"""

from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Self

import trio

from kbroker.store.interface import Compacted, WatchBatch

# Enough for a watcher that sleeps through the creation of a few thousand partitions, and about
# ten megabytes when every value is as long as a partition's.
MAX_EVENTS = 20_000


class History:
    """The last changes, oldest first, and a bell that rings for each new one."""

    __slots__ = ("_batches", "_bell", "_event_count", "_forgotten", "_max_events")

    def __init__(self, revision: int, max_events: int = MAX_EVENTS) -> None:
        self._batches: list[WatchBatch] = []
        self._event_count = 0
        self._max_events = max_events
        self._forgotten = revision  # everything up to here is no longer remembered
        self._bell = trio.Event()

    def add(self, batch: WatchBatch) -> None:
        """Remember ``batch``, forget the oldest if there is too much."""
        self._batches.append(batch)
        self._event_count += len(batch.events)
        if self._event_count > self._max_events:
            self._forget()

    def _forget(self) -> None:
        # Half at once, so that the list is not moved for every new batch.
        count = 0
        while self._event_count > self._max_events // 2 and count < len(self._batches) - 1:
            self._event_count -= len(self._batches[count].events)
            count += 1
        self._forgotten = self._batches[count - 1].revision if count else self._forgotten
        del self._batches[:count]

    def next_after(self, revision: int) -> WatchBatch | None:
        """The first change above ``revision``, or None; Compacted if it may be forgotten."""
        if revision < self._forgotten:
            raise Compacted(f"changes after {revision} are gone, up to {self._forgotten}")
        index = bisect_right(self._batches, revision, key=lambda batch: batch.revision)
        return self._batches[index] if index < len(self._batches) else None

    def ring(self) -> None:
        """Wake everybody who waits for a change."""
        self._bell.set()
        self._bell = trio.Event()

    @property
    def bell(self) -> trio.Event:
        """Set at the next `ring`. Take it before asking `next_after`, and no ring is missed."""
        return self._bell


class HistoryWatch:
    """One watch: an async context manager that is its own iterator."""

    __slots__ = ("_history", "_idle", "_prefix", "_revision")

    def __init__(
        self,
        history: History,
        prefix: str,
        after_revision: int,
        idle: Callable[[trio.Event], Awaitable[None]],
    ) -> None:
        """``idle`` waits for the bell it is given, and raises when the store is closed."""
        self._history = history
        self._prefix = prefix
        self._revision = after_revision
        self._idle = idle

    async def __aenter__(self) -> AsyncIterator[WatchBatch]:
        await trio.lowlevel.checkpoint()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to release: the history does not know who watches it."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> WatchBatch:
        await trio.lowlevel.checkpoint()
        while True:
            bell = self._history.bell
            batch = self._history.next_after(self._revision)
            if batch is None:
                await self._idle(bell)
                continue
            self._revision = batch.revision
            events = tuple(e for e in batch.events if e.key_value.key.startswith(self._prefix))
            if events:
                return WatchBatch(batch.revision, events)
