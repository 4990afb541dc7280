"""The keys of a store that lives in this process, and the rules of revisions; no I/O, no time.

`KeySpace` is all that a transaction can see and change. It holds only the present: the past that
watches need is kept by `History`, and what is on disk by `journal`.
"""

from collections.abc import Iterable, Sequence

from kbroker.store.interface import (
    Compare,
    CreatedAt,
    Delete,
    Event,
    EventKind,
    Exists,
    KeyValue,
    Missing,
    ModifiedAt,
    Put,
    WatchBatch,
    Write,
)

# What etcd calls the revision of a store in which nothing has happened yet.
FIRST_REVISION = 1


class KeySpace:
    """Keys, values and the revision counter.

    What `write` did can be taken back by `undo`, until `keep` is called.
    """

    __slots__ = ("_before", "_kept_revision", "_keys", "revision")

    def __init__(self, keys: Iterable[KeyValue] = (), revision: int = FIRST_REVISION) -> None:
        self._keys = {item.key: item for item in keys}
        self.revision = revision
        # The keys written since `keep`, as they were then; None if there was none.
        self._before: dict[str, KeyValue | None] = {}
        self._kept_revision = revision

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, key: str) -> KeyValue | None:
        """The key as it is now, or None."""
        return self._keys.get(key)

    def under(self, prefix: str) -> tuple[KeyValue, ...]:
        """All keys that begin with ``prefix``, sorted."""
        found = [key for key in self._keys if key.startswith(prefix)]
        return tuple(self._keys[key] for key in sorted(found))

    def leased(self) -> tuple[KeyValue, ...]:
        """All keys that are attached to some lease."""
        return tuple(item for item in self._keys.values() if item.lease_id)

    def holds(self, compare: Compare) -> bool:
        """Whether a transaction with this compare may go on."""
        found = self._keys.get(compare.key)
        match compare:
            case Exists():
                return found is not None
            case Missing():
                return found is None
            case ModifiedAt(_, revision):
                return found is not None and found.mod_revision == revision
            case CreatedAt(_, revision):
                return found is not None and found.create_revision == revision

    def write(self, writes: Sequence[Write]) -> WatchBatch | None:
        """Do all ``writes`` at the next revision, and tell what changed; None if nothing did."""
        revision = self.revision + 1
        events = []
        for write in writes:
            found = self._keys.get(write.key)
            self._before.setdefault(write.key, found)
            match write:
                case Put(key, value, lease_id):
                    created = revision if found is None else found.create_revision
                    item = KeyValue(key, value, created, revision, lease_id)
                    self._keys[key] = item
                    events.append(Event(EventKind.PUT, item))
                case Delete(key):
                    if found is not None:
                        del self._keys[key]
                        gone = KeyValue(key, b"", 0, revision)
                        events.append(Event(EventKind.DELETE, gone))
        if not events:
            return None
        self.revision = revision
        return WatchBatch(revision, tuple(events))

    def keep(self) -> None:
        """All that was written is durable: there is no way back."""
        self._before.clear()
        self._kept_revision = self.revision

    def undo(self) -> None:
        """Be again as at the last `keep`; nobody may have seen what was written since."""
        for key, item in self._before.items():
            if item is None:
                self._keys.pop(key, None)
            else:
                self._keys[key] = item
        self._before.clear()
        self.revision = self._kept_revision

    def replay(self, batch: WatchBatch) -> None:
        """Repeat what `write` once did, as it was read from a journal."""
        assert batch.revision > self.revision, "revisions only grow"
        for event in batch.events:
            if event.kind is EventKind.PUT:
                self._keys[event.key_value.key] = event.key_value
            else:
                self._keys.pop(event.key_value.key, None)
        self.revision = batch.revision
        self.keep()


def check_writes(writes: Sequence[Write]) -> None:
    """Raise ValueError if a key is written twice: etcd refuses that, and so no caller may do it."""
    keys = [write.key for write in writes]
    if len(set(keys)) != len(keys):
        twice = sorted({key for key in keys if keys.count(key) > 1})
        raise ValueError(f"written twice in one transaction: {', '.join(twice)}")
