"""What every store keeps, run against every store.

To add one, add a way to open it to `STORES`. Nothing here may know which store it is given.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio
import trio.testing

from kbroker.store import (
    Compacted,
    CreatedAt,
    Delete,
    EmbeddedStore,
    EventKind,
    Exists,
    KeyValue,
    LeaseNotFound,
    MemoryStore,
    Missing,
    ModifiedAt,
    Put,
    Store,
    StoreClosed,
    WatchBatch,
)

# Enough for a test to write past it, so that the store forgets.
SMALL_HISTORY = 8


@dataclass
class Subject:
    """A store under test, and what a test must know of its kind."""

    store: Store
    shortest_ttl_s: float
    forget: Callable[[], Awaitable[None]]


async def forget_by_writing(store: Store) -> None:
    for number in range(2 * SMALL_HISTORY):
        await store.txn([], [Put("filler", b"%d" % number)])


@asynccontextmanager
async def memory(path: Path) -> AsyncIterator[Subject]:
    store = MemoryStore(max_history_events=SMALL_HISTORY)
    yield Subject(store, 0.05, lambda: forget_by_writing(store))
    await store.aclose()


@asynccontextmanager
async def embedded(path: Path) -> AsyncIterator[Subject]:
    store = EmbeddedStore.open(path / "metadata", max_history_events=SMALL_HISTORY)
    yield Subject(store, 0.05, lambda: forget_by_writing(store))
    await store.aclose()


STORES = {"memory": memory, "embedded": embedded}


@pytest.fixture(params=STORES)
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    async with STORES[request.param](tmp_path) as subject:
        yield subject


@pytest.fixture
def store(subject: Subject) -> Store:
    return subject.store


async def take(store: Store, prefix: str, after: int, count: int) -> list[WatchBatch]:
    """The next ``count`` batches of a watch; the test fails if they do not come."""
    batches: list[WatchBatch] = []
    with trio.fail_after(10):
        async with store.watch(prefix, after) as watch:
            async for batch in watch:
                batches.append(batch)
                if len(batches) == count:
                    break
    return batches


def keys_of(batch: WatchBatch) -> list[tuple[EventKind, str]]:
    return [(event.kind, event.key_value.key) for event in batch.events]


# Reading and writing


async def test_a_key_that_was_never_put_is_missing(store):
    assert await store.get("a") is None
    assert (await store.list("")).items == ()


async def test_a_put_shows_its_value_and_revisions(store):
    first = await store.txn([], [Put("a", b"1")])
    second = await store.txn([], [Put("a", b"2")])

    found = await store.get("a")

    assert (found.value, found.create_revision, found.mod_revision) == (
        b"2",
        first.revision,
        second.revision,
    )


async def test_a_key_that_comes_back_is_created_anew(store):
    """M8: an incarnation is told by its create revision."""
    first = await store.txn([], [Put("a", b"1")])
    await store.txn([], [Delete("a")])
    second = await store.txn([], [Put("a", b"1")])

    found = await store.get("a")

    assert found.create_revision == second.revision > first.revision


async def test_all_writes_of_a_transaction_have_one_revision(store):
    before = (await store.list("")).revision
    result = await store.txn([], [Put("a", b"1"), Put("b", b"2"), Put("c", b"3")])

    items = (await store.list("")).items

    assert result.revision == before + 1
    assert {item.mod_revision for item in items} == {result.revision}


async def test_a_transaction_that_changes_nothing_uses_no_revision(store):
    first = await store.txn([], [Put("a", b"1")])

    assert (await store.txn([], [])).revision == first.revision
    assert (await store.txn([], [Delete("never")])).revision == first.revision
    assert (await store.txn([Missing("a")], [Put("a", b"2")])).revision == first.revision


async def test_values_are_opaque_bytes(store):
    values = [b"", bytes(range(256)), b"x" * 100_000]
    for number, value in enumerate(values):
        await store.txn([], [Put(f"key/{number}", value)])

    assert [item.value for item in (await store.list("key/")).items] == values


async def test_a_list_is_sorted_and_holds_only_its_prefix(store):
    await store.txn([], [Put(key, b"") for key in ("b/2", "a/1", "b/10", "ba", "b/é", "c")])

    listing = await store.list("b/")

    assert [item.key for item in listing.items] == ["b/10", "b/2", "b/é"]


async def test_a_key_may_not_be_written_twice_in_one_transaction(store):
    with pytest.raises(ValueError, match="a"):
        await store.txn([], [Put("a", b"1"), Delete("a")])

    assert await store.get("a") is None


# Comparing


@pytest.mark.parametrize("kind", [Exists, Missing])
@pytest.mark.parametrize("there", [True, False])
async def test_existence_is_compared(store, kind, there):
    if there:
        await store.txn([], [Put("a", b"1")])

    result = await store.txn([kind("a")], [Put("then", b"")], [Put("otherwise", b"")])

    assert result.succeeded == (there == (kind is Exists))
    assert (await store.get("then") is not None) == result.succeeded
    assert (await store.get("otherwise") is not None) == (not result.succeeded)


async def test_modification_and_creation_are_compared_by_revision(store):
    created = (await store.txn([], [Put("a", b"1")])).revision
    modified = (await store.txn([], [Put("a", b"2")])).revision

    async def holds(compare) -> bool:
        return (await store.txn([compare], [])).succeeded

    assert await holds(ModifiedAt("a", modified))
    assert not await holds(ModifiedAt("a", created))
    assert await holds(CreatedAt("a", created))
    assert not await holds(CreatedAt("a", modified))
    assert not await holds(ModifiedAt("never", created))
    assert not await holds(CreatedAt("never", 0))


async def test_one_broken_compare_stops_the_whole_transaction(store):
    await store.txn([], [Put("a", b"1")])

    result = await store.txn([Exists("a"), Missing("a")], [Put("b", b"")])

    assert not result.succeeded
    assert await store.get("b") is None


async def test_of_many_that_compare_and_swap_at_once_all_are_counted(store):
    """M1: nobody overwrites what it has not seen."""
    await store.txn([], [Put("counter", b"0")])

    async def increment() -> None:
        while True:
            found = await store.get("counter")
            value = b"%d" % (int(found.value) + 1)
            unchanged = ModifiedAt("counter", found.mod_revision)
            if (await store.txn([unchanged], [Put("counter", value)])).succeeded:
                return

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(increment)

    assert (await store.get("counter")).value == b"10"


async def test_only_one_of_many_creates_a_key(store):
    results = []

    async def create(number: int) -> None:
        results.append(await store.txn([Missing("a")], [Put("a", b"%d" % number)]))

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(create, number)

    assert sum(result.succeeded for result in results) == 1


async def test_a_cancelled_transaction_leaves_the_store_in_order(store):
    for number in range(20):
        with trio.move_on_after(0.0005 * number):
            await store.txn([], [Put("a", b"%d" % number), Put("b", b"%d" % number)])

    await store.txn([], [Put("c", b"")])

    a, b = await store.get("a"), await store.get("b")
    assert a.value == b.value
    assert await store.get("c") is not None


# Watching


async def test_a_watch_tells_what_follows_a_listing(store):
    await store.txn([], [Put("a", b"1")])
    revision = (await store.list("")).revision
    put = await store.txn([], [Put("a", b"2"), Put("b", b"3")])
    deleted = await store.txn([], [Delete("a")])

    first, second = await take(store, "", revision, 2)

    assert first.revision == put.revision
    assert keys_of(first) == [(EventKind.PUT, "a"), (EventKind.PUT, "b")]
    assert first.events[0].key_value.value == b"2"
    assert first.events[1].key_value == await store.get("b")
    assert keys_of(second) == [(EventKind.DELETE, "a")]
    assert second.events[0].key_value == KeyValue("a", b"", 0, deleted.revision)


async def test_a_watch_waits_for_what_is_still_to_come(store):
    revision = (await store.list("")).revision
    seen = []

    async def watch() -> None:
        seen.extend(await take(store, "a/", revision, 3))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        for number in range(3):
            await trio.testing.wait_all_tasks_blocked(0.01)
            await store.txn([], [Put(f"a/{number}", b"")])

    assert [keys_of(batch) for batch in seen] == [[(EventKind.PUT, f"a/{n}")] for n in range(3)]


async def test_a_watch_shows_only_its_prefix(store):
    revision = (await store.list("")).revision
    await store.txn([], [Put("b", b"")])
    await store.txn([], [Put("a/1", b""), Put("b", b"1"), Put("a/2", b"")])

    (batch,) = await take(store, "a/", revision, 1)

    assert keys_of(batch) == [(EventKind.PUT, "a/1"), (EventKind.PUT, "a/2")]


async def test_a_watch_resumes_after_any_revision(store):
    """M5: every change once, none lost, none repeated."""
    start = (await store.list("")).revision
    revisions = [(await store.txn([], [Put("a", b"%d" % n)])).revision for n in range(5)]

    for skip, after in enumerate([start, *revisions[:-1]]):
        batches = await take(store, "a", after, len(revisions) - skip)
        assert [batch.revision for batch in batches] == revisions[skip:]


async def test_a_watch_of_the_forgotten_is_refused(subject):
    """M5: after that, only a new listing helps."""
    store = subject.store
    revision = (await store.list("")).revision
    await store.txn([], [Put("a", b"1")])
    await subject.forget()

    with pytest.raises(Compacted):
        await take(store, "", revision, 1)

    listing = await store.list("")
    put = await store.txn([], [Put("b", b"")])
    assert [batch.revision for batch in await take(store, "", listing.revision, 1)] == [
        put.revision
    ]


async def test_a_transaction_that_wrote_nothing_is_not_watched(store):
    revision = (await store.list("")).revision
    await store.txn([], [Delete("never")])
    await store.txn([Exists("never")], [Put("a", b"")])
    put = await store.txn([], [Put("b", b"")])

    (batch,) = await take(store, "", revision, 1)

    assert batch.revision == put.revision


# Leases


async def test_a_revoked_lease_takes_its_keys_along(store):
    lease = await store.grant_lease(60)
    await store.txn([], [Put("mine", b"", lease.id), Put("mine too", b"", lease.id)])
    put = await store.txn([], [Put("ours", b"")])
    assert (await store.get("mine")).lease_id == lease.id

    await store.revoke(lease.id)

    assert [item.key for item in (await store.list("")).items] == ["ours"]
    (batch,) = await take(store, "", put.revision, 1)
    assert set(keys_of(batch)) == {(EventKind.DELETE, "mine"), (EventKind.DELETE, "mine too")}


async def test_a_lease_that_is_not_kept_alive_runs_out(subject):
    store = subject.store
    lease = await store.grant_lease(subject.shortest_ttl_s)
    put = await store.txn([], [Put("mine", b"", lease.id)])

    # The watch itself must notice: nobody else calls the store meanwhile.
    (batch,) = await take(store, "", put.revision, 1)

    assert keys_of(batch) == [(EventKind.DELETE, "mine")]
    assert await store.get("mine") is None
    with pytest.raises(LeaseNotFound):
        await store.keep_alive(lease.id)


async def test_a_lease_that_is_kept_alive_goes_on(subject):
    store = subject.store
    lease = await store.grant_lease(subject.shortest_ttl_s * 4)
    await store.txn([], [Put("mine", b"", lease.id)])

    for _ in range(8):
        await trio.sleep(subject.shortest_ttl_s)
        await store.keep_alive(lease.id)

    assert await store.get("mine") is not None


async def test_a_key_put_without_a_lease_outlives_its_former_one(store):
    lease = await store.grant_lease(60)
    await store.txn([], [Put("a", b"", lease.id)])
    await store.txn([], [Put("a", b"")])

    await store.revoke(lease.id)

    assert await store.get("a") is not None


async def test_an_ended_lease_takes_no_keys_and_no_calls(store):
    lease = await store.grant_lease(60)
    await store.revoke(lease.id)

    with pytest.raises(LeaseNotFound):
        await store.txn([], [Put("other", b""), Put("a", b"", lease.id)])
    with pytest.raises(LeaseNotFound):
        await store.keep_alive(lease.id)
    with pytest.raises(LeaseNotFound):
        await store.revoke(lease.id)
    assert (await store.list("")).items == ()


# Closing


async def test_a_closed_store_refuses_everything(store):
    revision = (await store.list("")).revision
    await store.aclose()

    with pytest.raises(StoreClosed):
        await store.get("a")
    with pytest.raises(StoreClosed):
        await store.txn([], [Put("a", b"")])
    with pytest.raises(StoreClosed):
        await take(store, "", revision, 1)


async def test_closing_ends_the_watches(store):
    revision = (await store.list("")).revision

    async def watch() -> None:
        with pytest.raises(StoreClosed):
            await take(store, "", revision, 1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        await trio.testing.wait_all_tasks_blocked(0.01)
        await store.aclose()
