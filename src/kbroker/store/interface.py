"""What the broker asks of a metadata store: etcd's model, without etcd's API.

A store maps keys to bytes. Every transaction that changes something gets the next *revision*, one
counter for the whole store, and each key remembers the revision that created it and the one that
last changed it. Everything else follows from those numbers: a list tells at which revision it is
true, a watch resumes after a revision, and a transaction compares revisions before it writes, so
that a writer that was overtaken fails instead of overwriting (M1, M4).

The rules every store keeps; the contract suite checks them:

* A transaction is atomic and durable before it is answered. When it raises anything but an error
  named here, its outcome is unknown: read again and decide (M6).
* The revision never decreases, not even over a restart (M5), and the create revision of a key that
  was deleted and put again is a new one (M8).
* Reads are linearizable: what `get` and `list` show was committed, and is at least as new as the
  last transaction that was answered before they were called.
* A watch shows every change once, in order, the events of one transaction together.
* A key put under a lease is deleted when the lease is revoked or not kept alive. A put without
  a lease takes the key away from its former one.
"""
# ruff: noqa: N818 - "raise Compacted" says it all; only the root is called an error.

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


@dataclass(frozen=True, slots=True)
class KeyValue:
    """One key as some revision shows it."""

    key: str
    value: bytes
    create_revision: int
    mod_revision: int
    lease_id: int = 0


@dataclass(frozen=True, slots=True)
class Exists:
    """Holds while ``key`` has a value."""

    key: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Holds while ``key`` has no value."""

    key: str


@dataclass(frozen=True, slots=True)
class ModifiedAt:
    """Holds while ``key`` has the value that ``revision`` gave it."""

    key: str
    revision: int


@dataclass(frozen=True, slots=True)
class CreatedAt:
    """Holds from the creation of ``key`` at ``revision`` until its deletion, over all values."""

    key: str
    revision: int


Compare = Exists | Missing | ModifiedAt | CreatedAt


@dataclass(frozen=True, slots=True)
class Put:
    """Give ``key`` a value; with a lease, until that lease ends."""

    key: str
    value: bytes
    lease_id: int = 0


@dataclass(frozen=True, slots=True)
class Delete:
    """Take ``key`` away; nothing happens, and no revision is used, when it is not there."""

    key: str


Write = Put | Delete


@dataclass(frozen=True, slots=True)
class TxnResult:
    """Whether all compares held, and the store's revision after the transaction."""

    succeeded: bool
    revision: int


class EventKind(Enum):
    """What happened to a key."""

    PUT = "put"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Event:
    """One change of one key. A deleted key has an empty value and the revision of its deletion."""

    kind: EventKind
    key_value: KeyValue


@dataclass(frozen=True, slots=True)
class WatchBatch:
    """Changes up to and including ``revision``, in order; never a part of a transaction."""

    revision: int
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """All keys under a prefix, sorted, as they are at ``revision``: watch after it for the rest."""

    items: tuple[KeyValue, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class Lease:
    """A promise to delete keys unless `keep_alive` is called at least every ``ttl_s`` seconds."""

    id: int
    ttl_s: float


class StoreError(Exception):
    """The root of all that a store complains about."""


class Compacted(StoreError):
    """The changes after the asked revision are forgotten: list anew, then watch from there."""


class LeaseNotFound(StoreError):
    """The lease was revoked, ran out or never was; the transaction that named it did nothing."""


class StoreClosed(StoreError):
    """The store was closed."""


class StoreFailed(StoreError):
    """The store could not write and refuses everything until it is opened anew.

    The transactions that were being written are unknown: they may be found after a restart.
    """


class StoreFull(StoreError):
    """The store had no room for the transaction; it did nothing, and the store goes on."""


class StoreLocked(StoreError):
    """Another process uses this store's file."""


class StoreDamaged(StoreError):
    """The file is not one that a store wrote, or its first part was changed since."""


Watch = AbstractAsyncContextManager[AsyncIterator[WatchBatch]]


class Store(Protocol):
    """A metadata store. All methods may be called from many tasks at once."""

    async def get(self, key: str) -> KeyValue | None:
        """The key as it is now, or None."""

    async def list(self, prefix: str) -> Listing:
        """All keys that begin with ``prefix``, at one revision."""

    async def txn(
        self, compares: Sequence[Compare], then: Sequence[Write], otherwise: Sequence[Write] = ()
    ) -> TxnResult:
        """Do ``then`` if every compare holds, else ``otherwise``; durable when it returns.

        ValueError if one branch writes a key twice; LeaseNotFound if a put names a lease that
        ended. Cancelled while it waits, the transaction either happened or did not.
        """

    def watch(self, prefix: str, after_revision: int) -> Watch:
        """All changes under ``prefix`` with a revision above ``after_revision``.

        The iterator never ends by itself. It raises Compacted when a change it owes is no longer
        remembered, also when its reader was too slow, and StoreClosed when the store is closed.
        """

    async def grant_lease(self, ttl_s: float) -> Lease:
        """A new lease. Its ttl may be longer than asked, if the store cannot watch so closely."""

    async def keep_alive(self, lease_id: int) -> None:
        """Start the lease's time anew; LeaseNotFound if it has ended."""

    async def revoke(self, lease_id: int) -> None:
        """End the lease and delete its keys in one transaction; LeaseNotFound if it has ended."""

    async def aclose(self) -> None:
        """Release everything. Waiting and later calls raise StoreClosed."""
