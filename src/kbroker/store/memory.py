"""A store in memory: the model for the contract suite, and the store of simulations."""

from kbroker.store.history import MAX_EVENTS
from kbroker.store.key_space import KeySpace
from kbroker.store.local_store import LocalStore


class MemoryStore(LocalStore):
    """A store that forgets everything when it goes."""

    def __init__(self, *, max_history_events: int = MAX_EVENTS) -> None:
        super().__init__(KeySpace(), max_history_events=max_history_events)
