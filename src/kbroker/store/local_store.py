"""A store inside one process: transactions in rounds, reads between rounds, watches, leases.

There is no task in the background. Whoever has something to write becomes the leader of a
*round* when it gets the gate: it takes everything that was queued meanwhile, decides it in order,
persists it in one go, and only then publishes it. The others find their answer when the gate
opens, or lead the next round. So one fdatasync serves all transactions that arrived during the
one before, and nobody can see a change that is not durable: reads pass through the gate too.

Leases that ran out are ended by whoever comes along: at the start of each round, before each
read, and by watches, which wake up for the next lease that would run out. A store that nobody
reads, writes or watches keeps dead keys, and nobody can tell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import trio

from kbroker.store.history import MAX_EVENTS, History, HistoryWatch
from kbroker.store.interface import (
    Compare,
    Delete,
    KeyValue,
    Lease,
    LeaseNotFound,
    Listing,
    Put,
    StoreClosed,
    StoreFailed,
    StoreFull,
    TxnResult,
    Watch,
    WatchBatch,
    Write,
)
from kbroker.store.key_space import KeySpace, check_writes
from kbroker.store.leases import LeaseTable

# How often a full disk is tried for the end of a lease.
FULL_PAUSE_S = 1.0


@dataclass(slots=True, eq=False)
class _Waiting:
    """A change that waits for its round, and what came of it."""

    decide: Callable[[], tuple[TxnResult, WatchBatch | None]]
    result: TxnResult | None = None
    error: LeaseNotFound | StoreFull | None = None


class LocalStore:
    """Everything of a store but the disk; `_persist` is what subclasses add."""

    def __init__(self, keys: KeySpace, *, max_history_events: int = MAX_EVENTS) -> None:
        self._keys = keys
        self._leases = LeaseTable()
        self._history = History(keys.revision, max_history_events)
        self._queue: list[_Waiting] = []
        self._gate = trio.Lock()
        self._closed = False
        self._failure: OSError | None = None

    async def _persist(self, batches: Sequence[WatchBatch]) -> None:
        """Make ``batches`` durable before anybody may know of them.

        StoreFull if nothing of them was written; an OSError is final.
        """

    async def get(self, key: str) -> KeyValue | None:
        """The key as it is now, or None."""
        async with self._gate:
            await self._settle()
            return self._keys.get(key)

    async def list(self, prefix: str) -> Listing:
        """All keys that begin with ``prefix``, at one revision."""
        async with self._gate:
            await self._settle()
            return Listing(self._keys.under(prefix), self._keys.revision)

    async def txn(
        self, compares: Sequence[Compare], then: Sequence[Write], otherwise: Sequence[Write] = ()
    ) -> TxnResult:
        """Do ``then`` if every compare holds, else ``otherwise``; durable when it returns."""
        check_writes(then)
        check_writes(otherwise)

        def decide() -> tuple[TxnResult, WatchBatch | None]:
            succeeded = all(self._keys.holds(compare) for compare in compares)
            writes = then if succeeded else otherwise
            for write in writes:
                if isinstance(write, Put) and write.lease_id:
                    self._require_lease(write.lease_id)
            batch = self._keys.write(writes)
            return TxnResult(succeeded, self._keys.revision), batch

        return await self._in_a_round(decide)

    def watch(self, prefix: str, after_revision: int) -> Watch:
        """All changes under ``prefix`` with a revision above ``after_revision``."""
        return HistoryWatch(self._history, prefix, after_revision, self._idle)

    async def grant_lease(self, ttl_s: float) -> Lease:
        """A new lease, of exactly this ttl."""
        async with self._gate:
            await self._settle()
            lease = self._leases.grant(ttl_s, trio.current_time())
        self._history.ring()  # watches must wake up in time for this one too
        return lease

    async def keep_alive(self, lease_id: int) -> None:
        """Start the lease's time anew; LeaseNotFound if it has ended."""
        # Not through the gate: a slow disk must not look like a dead owner.
        self._check_usable()
        self._leases.keep_alive(lease_id, trio.current_time())
        await trio.lowlevel.checkpoint()

    async def revoke(self, lease_id: int) -> None:
        """End the lease and delete its keys in one transaction; LeaseNotFound if it has ended."""

        def decide() -> tuple[TxnResult, WatchBatch | None]:
            self._leases.end(lease_id)
            batch = self._keys.write(self._deletes_of({lease_id}))
            return TxnResult(True, self._keys.revision), batch

        await self._in_a_round(decide)

    async def aclose(self) -> None:
        """Wait for the round under way, then refuse everything."""
        with trio.CancelScope(shield=True):
            async with self._gate:
                self._closed = True
        self._history.ring()

    async def _in_a_round(
        self, decide: Callable[[], tuple[TxnResult, WatchBatch | None]]
    ) -> TxnResult:
        waiting = _Waiting(decide)
        self._queue.append(waiting)
        try:
            async with self._gate:
                if waiting in self._queue:
                    await self._lead_round()
        finally:
            # Cancelled or refused before its round: it has not happened and never will.
            if waiting in self._queue:
                self._queue.remove(waiting)
        if waiting.error is not None:
            raise waiting.error
        if waiting.result is None:  # the leader of its round failed
            raise self._refusal()
        return waiting.result

    async def _lead_round(self) -> None:
        self._check_usable()
        batches = [*self._end_due_leases()]
        round_ = self._queue[:]
        self._queue.clear()
        results: list[tuple[_Waiting, TxnResult]] = []
        for waiting in round_:
            try:
                result, batch = waiting.decide()
            except LeaseNotFound as error:
                waiting.error = error
                continue
            results.append((waiting, result))
            if batch is not None:
                batches.append(batch)
        try:
            await self._commit(batches)
        except StoreFull as error:
            for waiting, _ in results:
                waiting.error = error
            return
        for waiting, result in results:
            waiting.result = result

    async def _commit(self, batches: Sequence[WatchBatch]) -> None:
        """Persist, then publish. It cannot be cancelled: the keys have changed already."""
        if not batches:
            return
        with trio.CancelScope(shield=True):
            try:
                await self._persist(batches)
            except StoreFull:
                self._keys.undo()
                self._leases.undo()
                raise
            except OSError as error:
                # A failed write or fsync is never tried again (L6): what the disk holds now, only
                # a new process that reads it can tell.
                self._failure = error
                self._history.ring()
                raise self._refusal() from error
        self._keys.keep()
        self._leases.keep()
        for batch in batches:
            self._history.add(batch)
        self._history.ring()

    async def _settle(self) -> None:
        """End the leases that ran out, so that what is read next is true now."""
        self._check_usable()
        await self._commit(self._end_due_leases())

    async def _idle(self, bell: trio.Event) -> None:
        """What a watch does when it has nothing to tell."""
        self._check_usable()
        with trio.move_on_at(self._leases.next_deadline()):
            await bell.wait()
            return
        try:
            async with self._gate:
                await self._settle()
        except StoreFull:
            # The lease that ran out stays until there is room to say so.
            await trio.sleep(FULL_PAUSE_S)

    def _end_due_leases(self) -> tuple[WatchBatch, ...]:
        due = set(self._leases.due(trio.current_time()))
        for lease_id in due:
            self._leases.end(lease_id)
        batch = self._keys.write(self._deletes_of(due)) if due else None
        return () if batch is None else (batch,)

    def _deletes_of(self, lease_ids: set[int]) -> Sequence[Write]:
        return [Delete(item.key) for item in self._keys.leased() if item.lease_id in lease_ids]

    def _require_lease(self, lease_id: int) -> None:
        if lease_id not in self._leases:
            raise LeaseNotFound(f"lease {lease_id} has ended")

    def _check_usable(self) -> None:
        if self._closed or self._failure is not None:
            raise self._refusal()

    def _refusal(self) -> StoreClosed | StoreFailed:
        if self._failure is not None:
            return StoreFailed(f"the store could not write: {self._failure}")
        return StoreClosed("the store is closed")
