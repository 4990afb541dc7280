"""The control loop on a store in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio

from kbroker.broker.control import Control, ControlError
from kbroker.cluster import (
    Change,
    ClusterImage,
    Decision,
    ImageDelta,
    KeyMissing,
    PutKey,
    create_cluster,
)
from kbroker.store import MemoryStore, Put

PREFIX = "/kbroker/"


@asynccontextmanager
async def control_of(store: MemoryStore) -> AsyncIterator[tuple[Control, list[ImageDelta]]]:
    deltas: list[ImageDelta] = []

    async def on_delta(delta: ImageDelta) -> None:
        await trio.lowlevel.checkpoint()
        deltas.append(delta)

    control = Control(store, PREFIX, on_delta)
    await control.load()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(control.watch)
        nursery.start_soon(control.run)
        yield control, deltas
        nursery.cancel_scope.cancel()


async def test_a_decision_is_answered_when_the_image_shows_it():
    async with control_of(MemoryStore()) as (control, deltas):
        await control.decide(lambda _: Decision(None, create_cluster("abc", {"f": 1})))

        assert control.image.cluster_id == "abc"
        assert deltas, "whoever follows the image was told before the asker"


async def test_a_decision_without_a_change_is_answered_at_once():
    async with control_of(MemoryStore()) as (control, deltas):
        assert await control.decide(lambda image: Decision(image.cluster_id)) is None
        assert deltas == []


async def test_a_decision_on_a_stale_image_is_taken_again():
    """M4: the compare decides, not what the image showed."""
    store = MemoryStore()
    attempts = []

    async with control_of(store) as (control, _):
        # The image has not heard of this yet when the decision is first taken.
        await store.txn([], [Put(PREFIX + "cluster", b'{"cluster_id":"first"}')])

        def decide(image: ClusterImage) -> Decision[str]:
            attempts.append(image.cluster_id)
            if image.cluster_id is not None:
                return Decision(image.cluster_id)
            write = PutKey("cluster", b'{"cluster_id":"second"}')
            return Decision("second", Change((KeyMissing("cluster"),), (write,)))

        assert await control.decide(decide) == "first"
    assert attempts in ([None, "first"], ["first"])


async def test_an_expectation_that_never_holds_ends_in_an_error():
    store = MemoryStore()
    await store.txn([], [Put(PREFIX + "cluster", b'{"cluster_id":"x"}')])
    impossible = Change((KeyMissing("cluster"),), (PutKey("features", b'{"levels":{}}'),))

    async with control_of(store) as (control, _):
        with pytest.raises(ControlError):
            await control.decide(lambda _: Decision(None, impossible))


async def test_a_decision_is_carried_out_even_if_its_asker_goes_away():
    async with control_of(MemoryStore()) as (control, _):
        with trio.CancelScope() as gone:

            def decide(image: ClusterImage) -> Decision[None]:
                gone.cancel()
                if image.cluster_id is None:
                    return Decision(None, create_cluster("abc", {}))
                return Decision(None)

            await control.decide(decide)
        await control.decide(lambda _: Decision(None))

        assert gone.cancelled_caught
        assert control.image.cluster_id == "abc"
