"""Who may connect: how many at once, how many from one address, how many a second; sans-IO.

Kafka's rules: with too many connections in all, or too many a second, we stop accepting until
there is room, and clients wait in the kernel's queue. An address with too many connections of its
own loses the new one at once. Everything is unlimited unless configured.
"""

from kbroker.server.settings import ServerSettings


class Admission:
    """Counts the connections of all listeners."""

    __slots__ = ("_by_host", "_next_at", "_settings", "count")

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._by_host: dict[str, int] = {}
        self._next_at = 0.0
        self.count = 0

    def has_room(self) -> bool:
        """Whether one more connection may be accepted, from wherever it comes."""
        return self.count < self._settings.max_connections

    def pause_s(self, now: float) -> float:
        """How long to wait before the next connection may be accepted."""
        return max(0.0, self._next_at - now)

    def enter(self, host: str, now: float) -> bool:
        """Count a new connection from ``host``; False, and not counted, if it has too many."""
        # A second without connections allows a second's worth of them at once, not more.
        rate = self._settings.max_connection_creation_rate
        self._next_at = max(self._next_at, now - 1.0) + 1.0 / rate
        limits = self._settings.max_connections_per_ip_overrides
        mine = self._by_host.get(host, 0)
        if mine >= limits.get(host, self._settings.max_connections_per_ip):
            return False
        self._by_host[host] = mine + 1
        self.count += 1
        return True

    def leave(self, host: str) -> None:
        """A connection that entered has ended."""
        left = self._by_host[host] - 1
        if left:
            self._by_host[host] = left
        else:
            del self._by_host[host]
        self.count -= 1
        assert self.count >= 0
