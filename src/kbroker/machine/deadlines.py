"""The moments a state machine waits for, each under a name.

A core sets, moves and cancels deadlines as it goes; the shell asks for
``next_deadline()``, sleeps until then and calls back with ``now``. Times are
monotonic seconds that the caller provides: there is no clock in here.

The heap never searches. A moved or cancelled deadline leaves its old entry
behind, which is recognised as dead when it surfaces, because the table of live
entries no longer points at it. Dead entries are swept out as soon as they
outnumber the live ones, so a session that is extended by every heartbeat costs
O(log n) per heartbeat and memory in proportion to the sessions alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heapify, heappop, heappush
from math import isnan
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

# Below this size a heap is not worth sweeping, whatever part of it is dead.
_SMALL_HEAP = 64


class Deadlines(Generic[Key]):
    """A set of named deadlines, of which the earliest is always at hand.

    Deadlines that fall on the same moment come out in the order they were set;
    moving a deadline counts as setting it anew.
    """

    __slots__ = ("_heap", "_live", "_pushes")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Key]] = []
        self._live: dict[Key, tuple[float, int, Key]] = {}
        self._pushes = 0

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, key: Key) -> bool:
        return key in self._live

    def set(self, key: Key, at: float) -> None:
        """Let ``key`` fall due at ``at``; a deadline it already had is replaced."""
        assert not isnan(at), "a NaN would break the order of the heap"
        self._pushes += 1  # breaks ties, so keys are never compared
        entry = (at, self._pushes, key)
        self._live[key] = entry
        heappush(self._heap, entry)
        self._sweep()

    def cancel(self, key: Key) -> bool:
        """Forget the deadline of ``key``; False if it had none."""
        if self._live.pop(key, None) is None:
            return False
        self._sweep()
        return True

    def get(self, key: Key) -> float | None:
        """When ``key`` falls due, or None if it has no deadline."""
        entry = self._live.get(key)
        return None if entry is None else entry[0]

    def next_deadline(self) -> float | None:
        """When the earliest deadline falls due, or None if there is none."""
        entry = self._first_live()
        return None if entry is None else entry[0]

    def due(self, now: float) -> Iterator[Key]:
        """Take out, one by one and earliest first, the keys that are due at ``now``.

        The body of the loop may set and cancel deadlines: a key it cancels is
        not yielded any more, and one it sets at or before ``now`` still is.
        """
        while (entry := self._first_live()) is not None and entry[0] <= now:
            heappop(self._heap)
            del self._live[entry[2]]
            yield entry[2]

    def _first_live(self) -> tuple[float, int, Key] | None:
        heap = self._heap
        while heap:
            entry = heap[0]
            if self._live.get(entry[2]) is entry:
                return entry
            heappop(heap)
        return None

    def _sweep(self) -> None:
        # Rebuilding costs O(live) and comes after at least as many sets and
        # cancels, so it adds a constant to each of them.
        if len(self._heap) > _SMALL_HEAP and len(self._heap) > 2 * len(self._live):
            self._heap = list(self._live.values())
            heapify(self._heap)
