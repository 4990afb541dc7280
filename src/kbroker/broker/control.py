"""The control loop: the broker's one way to change what the cluster is.

Decisions are pure (`kbroker.cluster`); this task carries them out, one after another:

    decide on the image -> write to the store -> wait until the image shows it -> answer

What the image shows comes from the watch alone, also for our own writes, so there is one way in
which the image changes. Whoever asked may go away meanwhile (a client that disconnects cancels its
request): the decision is carried out all the same, because the loop does it and not the asker.

A write that is refused because the image was stale is decided again on a newer one. A write whose
outcome is unknown is treated the same way: the image will tell (M6).
"""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

from kbroker.cluster import (
    Change,
    ClusterImage,
    Decision,
    DeleteKey,
    ImageDelta,
    KeyChange,
    KeyCreatedAt,
    KeyMissing,
    KeyModifiedAt,
    PutKey,
)
from kbroker.store import (
    Compacted,
    Compare,
    CreatedAt,
    Delete,
    EventKind,
    KeyValue,
    Missing,
    ModifiedAt,
    Put,
    Store,
    StoreError,
    WatchBatch,
    Write,
)
from kbroker.telemetry.log_lines import get_logger

log = get_logger("control")

Results = TypeVar("Results")
Decide = Callable[[ClusterImage], Decision[Results]]

# Orders that may wait for their turn. Beyond it askers wait before they are even queued.
MAX_WAITING_ORDERS = 1000
# How often a decision is taken anew because somebody else was faster.
MAX_ATTEMPTS = 20


class ControlError(Exception):
    """The cluster's metadata cannot be changed now; nothing or only a part was done."""


class NotStored(ControlError):  # noqa: N818 - the root is called an error
    """The store does not take changes now: its disk is full, or it cannot be reached."""


class _Order(Generic[Results]):
    """One decision that somebody waits for."""

    def __init__(self, decide: Decide[Results]) -> None:
        self.decide = decide
        self.done = trio.Event()
        self.results: Results | None = None
        self.failure: ControlError | None = None


class Control:
    """Follows the store and carries out decisions."""

    def __init__(
        self, store: Store, prefix: str, on_delta: Callable[[ImageDelta], Awaitable[None]]
    ) -> None:
        self.image = ClusterImage()
        self.lease_id = 0
        self._store = store
        self._prefix = prefix
        self._on_delta = on_delta
        self._applied_revision = 0
        self._applied = trio.Event()
        self._orders, self._queue = trio.open_memory_channel[_Order[object]](MAX_WAITING_ORDERS)

    async def load(self) -> None:
        """Read all there is; the image is whole afterwards."""
        listing = await self._store.list(self._prefix)
        self.image.apply([self._changed(item) for item in listing.items], listing.revision)
        self._applied_revision = listing.revision

    async def decide(self, decide: Callable[[ClusterImage], Decision[Results]]) -> Results:
        """Take a decision and carry it out; gives its results once the image shows them.

        ``decide`` may run several times and must change nothing itself. ControlError if the store
        does not take the change.
        """
        order: _Order[Results] = _Order(decide)
        await self._orders.send(order)  # type: ignore[arg-type]  # results are opaque to the loop
        await order.done.wait()
        if order.failure is not None:
            raise order.failure
        return order.results  # type: ignore[return-value]  # set before done

    async def run(self) -> None:
        """Carry out orders, one at a time, until cancelled."""
        async for order in self._queue:
            try:
                order.results = await self._carry_out(order.decide)
            except ControlError as failure:
                log.error("a change of the metadata failed", reason=str(failure))
                order.failure = failure
            order.done.set()

    async def _carry_out(self, decide: Decide[Results]) -> Results:
        for _ in range(MAX_ATTEMPTS):
            decision = decide(self.image)
            if not decision.change:
                return decision.results
            try:
                if await self._write(decision.change):
                    return decision.results
                await self._refresh()
            except StoreError as error:
                raise NotStored(f"the metadata store failed: {error}") from error
        raise ControlError("the metadata changes too fast to decide on it")

    async def _write(self, change: Change) -> bool:
        """Write all chunks and wait for the image; False if an expectation did not hold."""
        revision = 0
        for chunk in change.chunks():
            result = await self._store.txn(
                [self._compare(expectation) for expectation in chunk.expectations],
                [self._as_write(write) for write in chunk.writes],
            )
            if not result.succeeded:
                return False
            revision = result.revision
        await self._until_applied(revision)
        return True

    async def _refresh(self) -> None:
        """Wait until the image is as new as the store is now."""
        listing = await self._store.list(self._prefix + "cluster")
        await self._until_applied(listing.revision)

    async def _until_applied(self, revision: int) -> None:
        while self._applied_revision < revision:
            await self._applied.wait()

    async def watch(self) -> None:
        """Follow the store until cancelled; lists anew when it fell too far behind (M5)."""
        while True:
            try:
                async with self._store.watch(self._prefix, self._applied_revision) as batches:
                    async for batch in batches:
                        await self._apply(batch)
            except Compacted:
                listing = await self._store.list(self._prefix)
                changes = [self._changed(item) for item in listing.items]
                await self._act_on(self.image.resync(changes, listing.revision), listing.revision)

    async def _apply(self, batch: WatchBatch) -> None:
        changes = [
            self._changed(event.key_value, deleted=event.kind is EventKind.DELETE)
            for event in batch.events
        ]
        await self._act_on(self.image.apply(changes, batch.revision), batch.revision)

    async def _act_on(self, delta: ImageDelta, revision: int) -> None:
        await self._on_delta(delta)
        self._applied_revision = revision
        self._applied.set()
        self._applied = trio.Event()

    # From the cluster's words to the store's and back.

    def _changed(self, item: KeyValue, *, deleted: bool = False) -> KeyChange:
        return KeyChange(
            item.key.removeprefix(self._prefix),
            None if deleted else item.value,
            item.create_revision,
            item.mod_revision,
        )

    def _compare(self, expectation: KeyMissing | KeyCreatedAt | KeyModifiedAt) -> Compare:
        key = self._prefix + expectation.key
        match expectation:
            case KeyMissing():
                return Missing(key)
            case KeyCreatedAt(_, revision):
                return CreatedAt(key, revision)
            case KeyModifiedAt(_, revision):
                return ModifiedAt(key, revision)

    def _as_write(self, write: PutKey | DeleteKey) -> Write:
        key = self._prefix + write.key
        if isinstance(write, DeleteKey):
            return Delete(key)
        return Put(key, write.value, self.lease_id if write.leased else 0)
