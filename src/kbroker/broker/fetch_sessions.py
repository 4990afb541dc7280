"""Fetch sessions (KIP-227): what a client fetches is remembered, so it need not be said again.

A session is also the reason why an idle fetch costs the same with one partition and with ten
thousand. It watches its partitions; each one that changes puts its entry into ``dirty``, and a
fetch looks at dirty entries only. An entry stays dirty while there is or may be something to tell:

    put in     the client named it in a request; its partition changed; it answered with an error
    kept       it gave data (there may be more), or the answer was full before its turn came
    taken out  it was looked at and there was nothing to tell

Dirty entries are served in the order in which they became dirty, which is what keeps a busy
partition from starving the others.
"""

from collections.abc import Callable, Iterable

from kbroker.broker.partition import Partition, Watcher
from kbroker.model import Uuid
from kbroker.wire.messages.fetch import FetchPartition

# Session epochs: a full fetch that opens a session, and one that wants none.
INITIAL_EPOCH = 0
FINAL_EPOCH = -1
_LARGEST_EPOCH = 2**31 - 1

EntryKey = tuple[str, Uuid, int]


class FetchEntry:
    """One partition of a fetch: where the reader stands, and what it was told last."""

    __slots__ = (
        "asked",
        "index",
        "partition",
        "sent_high_watermark",
        "sent_log_start_offset",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, topic_id: Uuid, asked: FetchPartition) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = asked.partition
        self.asked = asked
        self.partition: Partition | None = None
        self.sent_high_watermark = -1
        self.sent_log_start_offset = -1

    @property
    def key(self) -> EntryKey:
        """What names the entry inside its session."""
        return (self.topic, self.topic_id, self.index)


class FetchSession:
    """What one client fetches, watched."""

    def __init__(self, session_id: int, uses_topic_ids: bool, now: float) -> None:
        self.session_id = session_id
        self.uses_topic_ids = uses_topic_ids
        self.epoch = 1
        self.created_at = now
        self.used_at = now
        self.entries: dict[EntryKey, FetchEntry] = {}
        self.dirty: dict[FetchEntry, None] = {}
        self._watched: dict[Partition, FetchEntry] = {}
        # Fetches of this session that wait; one, unless the client is impatient.
        self.waiting: dict[Watcher, None] = {}

    def put(self, entry: FetchEntry) -> None:
        """Add an entry, or give the one that is there its new position."""
        known = self.entries.get(entry.key)
        if known is None:
            self.entries[entry.key] = known = entry
        else:
            known.asked = entry.asked
        self.dirty.pop(known, None)  # back to the end of the queue
        self.dirty[known] = None

    def forget(self, key: EntryKey) -> None:
        """The client is no longer interested."""
        entry = self.entries.pop(key, None)
        if entry is not None:
            self.dirty.pop(entry, None)
            self._unwatch(entry)

    def watch(self, entry: FetchEntry, partition: Partition | None) -> None:
        """From now on ``entry`` follows ``partition``, which may be another one than before."""
        if entry.partition is partition:
            return
        self._unwatch(entry)
        entry.partition = partition
        if partition is not None:
            self._watched[partition] = entry
            partition.watchers[self] = None

    def _unwatch(self, entry: FetchEntry) -> None:
        if entry.partition is not None:
            self._watched.pop(entry.partition, None)
            entry.partition.watchers.pop(self, None)
            entry.partition = None

    def touch(self, partition: Partition) -> None:
        """A watched partition changed."""
        entry = self._watched.get(partition)
        if entry is not None and entry not in self.dirty:
            self.dirty[entry] = None
        for fetch in self.waiting:
            fetch.touch(partition)

    def close(self) -> None:
        """Watch nothing any more."""
        for entry in self.entries.values():
            self._unwatch(entry)
        self.dirty.clear()

    def next_epoch(self) -> None:
        """The client counts its fetches, and so do we."""
        self.epoch = 1 if self.epoch == _LARGEST_EPOCH else self.epoch + 1


class FetchSessions:
    """All sessions, at most ``slots``; the one unused longest gives way if it is old enough."""

    def __init__(self, *, slots: int, eviction_s: float, new_id: Callable[[], int]) -> None:
        self._slots = slots
        self._eviction_s = eviction_s
        self._new_id = new_id
        # Least recently used first: a session is moved to the end whenever it is used.
        self._sessions: dict[int, FetchSession] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def create(
        self, entries: Iterable[FetchEntry], *, uses_topic_ids: bool, now: float
    ) -> FetchSession | None:
        """A new session of ``entries``, or None if there is no room."""
        if len(self._sessions) >= self._slots and not self._evict(now):
            return None
        session_id = self._new_id()
        while session_id == 0 or session_id in self._sessions:
            session_id = self._new_id()
        session = FetchSession(session_id, uses_topic_ids, now)
        for entry in entries:
            session.entries[entry.key] = entry
        self._sessions[session_id] = session
        return session

    def get(self, session_id: int) -> FetchSession | None:
        """The session of this id, if it is still there."""
        return self._sessions.get(session_id)

    def used(self, session: FetchSession, now: float) -> None:
        """The session is alive, and goes to the end of the queue of those to give way."""
        session.used_at = now
        self._sessions[session.session_id] = self._sessions.pop(session.session_id)

    def remove(self, session_id: int) -> None:
        """End a session; nothing happens if it is not there."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.close()

    def _evict(self, now: float) -> bool:
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None or now - oldest.used_at < self._eviction_s:
            return False
        self.remove(oldest.session_id)
        return True
