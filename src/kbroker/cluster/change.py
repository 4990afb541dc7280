"""What a decision wants written, and what must still be true when it is.

The same idea as a store's transaction, in this package's own words: decisions know keys and
revisions but no store. The shell translates, and a change whose expectations do not hold is
simply decided again on a newer image.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kbroker.cluster.keys import CONTROLLER

# etcd takes 128 compares or writes in one transaction (M9); this leaves room for the fence and
# for whatever the shell adds.
MAX_WRITES = 100


@dataclass(frozen=True, slots=True)
class KeyMissing:
    """The key must not exist."""

    key: str


@dataclass(frozen=True, slots=True)
class KeyCreatedAt:
    """The key must still be the one that was created at ``revision``."""

    key: str
    revision: int


@dataclass(frozen=True, slots=True)
class KeyModifiedAt:
    """The key must not have changed since ``revision``."""

    key: str
    revision: int


Expectation = KeyMissing | KeyCreatedAt | KeyModifiedAt


@dataclass(frozen=True, slots=True)
class PutKey:
    """Write a value; ``leased`` ones hang on the lease of the broker that writes."""

    key: str
    value: bytes
    leased: bool = False


@dataclass(frozen=True, slots=True)
class DeleteKey:
    """Delete a key, if it is there."""

    key: str


KeyWrite = PutKey | DeleteKey


def controller_fence(create_revision: int) -> KeyCreatedAt:
    """Expected by every change of a controller: that it still is one (M1).

    ``create_revision`` is the revision at which this controller's own claim was written.
    """
    return KeyCreatedAt(CONTROLLER, create_revision)


@dataclass(frozen=True, slots=True)
class Change:
    """Writes, in order, and expectations.

    Small changes are one transaction. Larger ones are written in `chunks`, in order, and may stop
    in between; decisions arrange their writes so that this is harmless.
    """

    expectations: tuple[KeyMissing | KeyCreatedAt | KeyModifiedAt, ...] = ()
    writes: tuple[PutKey | DeleteKey, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.writes)

    def chunks(self, limit: int = MAX_WRITES) -> Iterator["Change"]:
        """Transactions of at most ``limit`` writes.

        What is expected of a key goes with the write of that key; what is expected of a key that
        is not written, like the controller's fence, goes with every chunk.
        """
        written = {write.key for write in self.writes}
        everywhere = tuple(e for e in self.expectations if e.key not in written)
        by_key: dict[str, list[Expectation]] = {}
        for expectation in self.expectations:
            by_key.setdefault(expectation.key, []).append(expectation)
        for start in range(0, len(self.writes), limit):
            writes = self.writes[start : start + limit]
            own = tuple(e for write in writes for e in by_key.get(write.key, ()))
            yield Change(everywhere + own, writes)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why something asked for is not done: the name of Kafka's error code, and words for people."""

    error: str
    message: str | None = None


Results = TypeVar("Results")


@dataclass(frozen=True, slots=True)
class Decision(Generic[Results]):
    """Answers for the asker, to be given once ``change`` is written; at once if it is empty."""

    results: Results
    change: Change = field(default_factory=Change)
