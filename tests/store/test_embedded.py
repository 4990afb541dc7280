"""The embedded store over restarts, and the order in which it touches the disk."""

import errno
import os
import time
from itertools import pairwise

import pytest
import trio

from kbroker.store import (
    Compacted,
    Delete,
    EmbeddedStore,
    LeaseNotFound,
    Missing,
    Put,
    StoreDamaged,
    StoreFailed,
    StoreFull,
    StoreLocked,
    embedded,
)


async def test_what_was_answered_is_there_after_a_restart(tmp_path):
    path = tmp_path / "metadata"
    store = EmbeddedStore.open(path)
    await store.txn([], [Put("a", b"1"), Put("b", b"2")])
    await store.txn([], [Put("a", b"3")])
    before = await store.list("")
    await store.aclose()

    store = EmbeddedStore.open(path)

    assert await store.list("") == before
    assert store.cut_bytes == 0
    await store.aclose()


async def test_leased_keys_of_a_former_process_are_gone(tmp_path):
    path = tmp_path / "metadata"
    store = EmbeddedStore.open(path)
    lease = await store.grant_lease(600)
    await store.txn([], [Put("brokers/1", b"", lease.id), Put("topics/a", b"")])
    await store.aclose()

    store = EmbeddedStore.open(path)

    assert [item.key for item in (await store.list("")).items] == ["topics/a"]
    await store.aclose()


async def test_a_broker_that_registers_again_gets_a_higher_create_revision(tmp_path):
    """M8, R14: broker epochs grow over restarts, whatever else was written."""
    path = tmp_path / "metadata"
    epochs = []
    for _ in range(4):
        store = EmbeddedStore.open(path)
        lease = await store.grant_lease(600)
        result = await store.txn([Missing("brokers/1")], [Put("brokers/1", b"", lease.id)])
        assert result.succeeded
        epochs.append((await store.get("brokers/1")).create_revision)
        await store.aclose()

    assert epochs == sorted(set(epochs))


async def test_the_revision_of_a_listing_never_goes_back_over_a_restart(tmp_path):
    """M5, also when nothing was written since the leased keys went."""
    path = tmp_path / "metadata"
    revisions = []
    store = EmbeddedStore.open(path)
    lease = await store.grant_lease(600)
    await store.txn([], [Put("brokers/1", b"", lease.id)])
    for _ in range(3):
        revisions.append((await store.list("")).revision)
        await store.aclose()
        store = EmbeddedStore.open(path)
    await store.aclose()

    assert revisions == sorted(revisions)


async def test_history_does_not_survive_a_restart(tmp_path):
    path = tmp_path / "metadata"
    store = EmbeddedStore.open(path)
    first = await store.txn([], [Put("a", b"1")])
    await store.txn([], [Put("a", b"2")])
    await store.aclose()
    store = EmbeddedStore.open(path)

    with pytest.raises(Compacted):
        async with store.watch("", first.revision) as watch:
            await anext(watch)
    await store.aclose()


async def test_a_second_opener_is_told_that_the_file_is_in_use(tmp_path):
    store = EmbeddedStore.open(tmp_path / "metadata")

    with pytest.raises(StoreLocked, match="another process uses"):
        EmbeddedStore.open(tmp_path / "metadata")
    await store.aclose()

    again = EmbeddedStore.open(tmp_path / "metadata")
    await again.aclose()


@pytest.mark.parametrize("content", [b"", b"something else", b"kbrokerM\x01\x00\x00\x00"])
def test_a_file_that_is_no_store_is_left_alone(tmp_path, content):
    path = tmp_path / "metadata"
    path.write_bytes(content)

    with pytest.raises(StoreDamaged):
        EmbeddedStore.open(path)

    assert path.read_bytes() == content


async def test_a_file_that_grew_is_rewritten_and_says_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "MIN_REWRITE_BYTES", 2_000)
    path = tmp_path / "metadata"
    store = EmbeddedStore.open(path)
    sizes = []
    for number in range(200):
        await store.txn([], [Put(f"key/{number % 7}", b"%d" % number)])
        sizes.append(path.stat().st_size)
    before = await store.list("")
    await store.aclose()

    assert max(sizes) < 4_000
    assert any(later < earlier for earlier, later in pairwise(sizes))
    store = EmbeddedStore.open(path)
    assert await store.list("") == before
    await store.aclose()
    assert not (tmp_path / "metadata.tmp").exists()


async def test_a_long_journal_is_shortened_after_a_restart(tmp_path, monkeypatch):
    path = tmp_path / "metadata"
    store = EmbeddedStore.open(path)
    for number in range(100):
        await store.txn([], [Put("key", b"%d" % number * 20)])
    await store.aclose()
    long = path.stat().st_size
    monkeypatch.setattr(embedded, "MIN_REWRITE_BYTES", 100)

    store = EmbeddedStore.open(path)
    await store.txn([], [Put("key", b"last")])
    await store.aclose()

    assert path.stat().st_size < long / 10


async def test_transactions_that_wait_together_share_one_sync(tmp_path, monkeypatch):
    syncs = []
    sync = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (syncs.append(fd), time.sleep(0.01), sync(fd)))
    store = EmbeddedStore.open(tmp_path / "metadata")

    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(store.txn, [], [Put(f"key/{number}", b"")])

    assert len((await store.list("")).items) == 50
    assert len(syncs) <= 3
    await store.aclose()


async def test_nobody_sees_a_change_before_it_is_on_disk(tmp_path, monkeypatch):
    """M4: what is read is committed. A watch and a get both wait for the sync."""
    on_disk = False
    sync = os.fdatasync

    def slow(descriptor: int) -> None:
        nonlocal on_disk
        time.sleep(0.1)
        sync(descriptor)
        on_disk = True

    store = EmbeddedStore.open(tmp_path / "metadata")
    revision = (await store.list("")).revision
    monkeypatch.setattr(os, "fdatasync", slow)
    seen = []

    async def get() -> None:
        await trio.sleep(0.02)
        if await store.get("a") is not None:
            seen.append(("get", on_disk))

    async def watch() -> None:
        async with store.watch("", revision) as changes:
            await anext(changes)
            seen.append(("watch", on_disk))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(get)
        nursery.start_soon(watch)
        await trio.sleep(0.01)
        nursery.start_soon(store.txn, [], [Put("a", b"")])

    assert sorted(seen) == [("get", True), ("watch", True)]
    await store.aclose()


async def test_a_failed_sync_is_final(tmp_path, monkeypatch):
    """L6: never retry and carry on; everybody who waits is told."""

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "metadata"
    store = EmbeddedStore.open(path)
    await store.txn([], [Put("a", b"1")])
    refused = []

    async def put(number: int) -> None:
        with pytest.raises(StoreFailed):
            await store.txn([], [Put("a", b"%d" % number)])
        refused.append(number)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(put, number)
    with pytest.raises(StoreFailed):
        await store.get("a")
    await store.aclose()

    assert sorted(refused) == [0, 1, 2]
    store = EmbeddedStore.open(path)
    assert await store.get("a") is not None
    await store.aclose()


async def test_ten_thousand_partitions_open_quickly(tmp_path):
    path = tmp_path / "metadata"
    store = EmbeddedStore.open(path)
    value = b"v" * 150
    for topic in range(1000):
        writes = [Put(f"partitions/{topic:022}/{number}", value) for number in range(10)]
        await store.txn([], [Put(f"topics/{topic}", value), *writes])
    await store.aclose()

    started = time.perf_counter()
    store = EmbeddedStore.open(path)
    took_s = time.perf_counter() - started

    assert len((await store.list("")).items) == 11_000
    await store.aclose()
    # 40 ms on an idle core; the limit leaves room for a busy machine.
    assert took_s < 1.0


class FullDisk:
    """Lets writes fail for want of room, after some bytes have been taken."""

    def __init__(self, monkeypatch):
        self.is_full = False
        self._write = os.write
        monkeypatch.setattr(os, "write", self.write)

    def write(self, descriptor, data):
        if not self.is_full:
            return self._write(descriptor, data)
        if len(data) > 50:
            return self._write(descriptor, data[:50])
        raise OSError(errno.ENOSPC, "No space left on device")


async def test_without_room_a_transaction_does_nothing_and_the_next_one_may_fit(
    tmp_path, monkeypatch
):
    """L10: refused as a whole, in memory, on disk and for those who watch."""
    path = tmp_path / "metadata"
    disk = FullDisk(monkeypatch)
    store = EmbeddedStore.open(path)
    await store.txn([], [Put("a", b"1"), Put("b", b"2")])
    before, file_before = await store.list(""), path.read_bytes()

    disk.is_full = True
    for _ in range(2):
        with pytest.raises(StoreFull, match="No space left"):
            await store.txn([], [Put("a", b"3"), Delete("b"), Put("c", b"4" * 100)])
    assert await store.list("") == before
    assert path.read_bytes() == file_before

    disk.is_full = False
    result = await store.txn([Missing("c")], [Put("c", b"5")])
    assert (result.succeeded, result.revision) == (True, before.revision + 1)
    async with store.watch("", before.revision) as batches:
        batch = await anext(batches)
    assert [event.key_value.value for event in batch.events] == [b"5"]
    after = await store.list("")
    await store.aclose()
    store = EmbeddedStore.open(path)
    assert await store.list("") == after
    await store.aclose()


async def test_without_room_no_transaction_of_a_round_happens(tmp_path, monkeypatch):
    disk = FullDisk(monkeypatch)
    store = EmbeddedStore.open(tmp_path / "metadata")
    disk.is_full = True
    refused = []

    async def write(key):
        with pytest.raises(StoreFull):
            await store.txn([], [Put(key, b"v" * 100)])
        refused.append(key)

    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(write, f"key/{number}")

    assert len(refused) == 5
    assert (await store.list("")).items == ()
    await store.aclose()


async def test_without_room_for_a_new_file_the_old_one_grows(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "MIN_REWRITE_BYTES", 100)
    path = tmp_path / "metadata"
    store = EmbeddedStore.open(path)
    for number in range(10):
        await store.txn([], [Put("a", b"%d" % number * 50)])

    def no_room(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_room)
        length = path.stat().st_size
        for number in range(10):
            await store.txn([], [Put("a", b"%d" % number * 50)])
        assert path.stat().st_size > length + 500
        assert not path.with_name("metadata.tmp").exists()
    await store.txn([], [Put("a", b"last")])
    assert path.stat().st_size < 200
    await store.aclose()


async def test_without_room_a_lease_ends_when_there_is_room_again(
    tmp_path, monkeypatch, autojump_clock
):
    disk = FullDisk(monkeypatch)
    store = EmbeddedStore.open(tmp_path / "metadata")
    lease = await store.grant_lease(5)
    result = await store.txn([], [Put("leased", b"", lease.id)])
    disk.is_full = True
    with trio.move_on_after(20):
        async with store.watch("", result.revision) as batches:
            await anext(batches)
    with pytest.raises(StoreFull):
        await store.get("leased")
    with pytest.raises(LeaseNotFound):
        await store.keep_alive(lease.id)

    disk.is_full = False
    assert await store.get("leased") is None
    await store.aclose()
