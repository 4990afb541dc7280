"""Leases of a store that lives in this process: when each runs out; no clock of its own."""

from dataclasses import dataclass

from kbroker.store.interface import Lease, LeaseNotFound


@dataclass(slots=True)
class _Running:
    ttl_s: float
    expires_at: float


class LeaseTable:
    """The leases that have not ended. Which keys hang on them, only the keys themselves know.

    Ids start at one in every process: the leases of a former process are gone, and so are their
    keys, so that an old id cannot meet a new one. `end` can be taken back until `keep` is called,
    for the same reason as changes of keys.
    """

    __slots__ = ("_ended", "_last_id", "_running")

    def __init__(self) -> None:
        self._running: dict[int, _Running] = {}
        self._ended: dict[int, _Running] = {}
        self._last_id = 0

    def __contains__(self, lease_id: int) -> bool:
        return lease_id in self._running

    def grant(self, ttl_s: float, now: float) -> Lease:
        """A new lease that runs out ``ttl_s`` after ``now``."""
        self._last_id += 1
        self._running[self._last_id] = _Running(ttl_s, now + ttl_s)
        return Lease(self._last_id, ttl_s)

    def keep_alive(self, lease_id: int, now: float) -> None:
        """Start the lease's time anew; LeaseNotFound if it has ended."""
        running = self._running.get(lease_id)
        if running is None or running.expires_at <= now:
            raise LeaseNotFound(f"lease {lease_id} has ended")
        running.expires_at = now + running.ttl_s

    def end(self, lease_id: int) -> None:
        """Forget the lease; LeaseNotFound if it has ended already."""
        running = self._running.pop(lease_id, None)
        if running is None:
            raise LeaseNotFound(f"lease {lease_id} has ended")
        self._ended[lease_id] = running

    def keep(self) -> None:
        """The deletion of the ended leases' keys is durable."""
        self._ended.clear()

    def undo(self) -> None:
        """The leases that ended since `keep` have not: their keys are still there."""
        self._running |= self._ended
        self._ended.clear()

    def due(self, now: float) -> list[int]:
        """The leases whose time is over but which have not been ended."""
        return [id_ for id_, running in self._running.items() if running.expires_at <= now]

    def next_deadline(self) -> float:
        """When the next lease runs out; infinity if there is none."""
        return min((r.expires_at for r in self._running.values()), default=float("inf"))
