"""Administration on a real control loop and a store in memory: waiting, failing, asking again."""

from contextlib import asynccontextmanager

import pytest
import trio

from kbroker.broker.administration import Administration
from kbroker.broker.carrying_out import NotCarriedOut
from kbroker.broker.config_administration import Alteration, ResourceKind
from kbroker.broker.control import Control
from kbroker.cluster import (
    BrokerValue,
    Decision,
    Endpoint,
    FeatureUpdate,
    NewTopic,
    Refused,
    TopicToDelete,
    VersionRange,
    claim_controller,
    create_cluster,
    register_broker,
)
from kbroker.config import BrokerConfig
from kbroker.config.alter import Change, Operation
from kbroker.model import Uuid
from kbroker.store import StoreError
from kbroker.store.memory import MemoryStore
from kbroker.wire.error_codes import ErrorCode

CONFIG = BrokerConfig.of(
    {
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
    }
)
SUPPORTED = {"x.version": VersionRange(0, 3)}


class FragileStore(MemoryStore):
    """A store that can be broken, or made to wait."""

    def __init__(self):
        super().__init__()
        self.broken = False
        self.delay_s = 0.0

    async def txn(self, compares, then, otherwise=()):
        await trio.sleep(self.delay_s)
        if self.broken:
            raise StoreError("the store is away")
        return await super().txn(compares, then, otherwise)


class Scene:
    """One broker's control loop and its administration."""

    def __init__(self):
        self.store = FragileStore()
        self.control = Control(self.store, "/k/", self.on_delta)
        numbers = iter(range(1, 1000))
        self.administration = Administration(
            self.control, lambda: CONFIG, 1, lambda: Uuid(next(numbers).to_bytes(16)), SUPPORTED
        )

    async def on_delta(self, delta):
        await trio.lowlevel.checkpoint()

    async def start(self):
        await self.control.load()
        registration = BrokerValue(
            1, Uuid(bytes(16)), (Endpoint("PLAINTEXT", "h", 1, "PLAINTEXT"),), None, SUPPORTED
        )
        lease = await self.store.grant_lease(60.0)
        self.control.lease_id = lease.id
        for change in (create_cluster("c", {}), register_broker(registration), claim_controller(1)):
            await self.control.decide(lambda _, change=change: Decision(None, change))

    async def create(self, name):
        deadline = trio.current_time() + 10
        return (await self.administration.create_topics([NewTopic(name)], deadline=deadline))[name]


@asynccontextmanager
async def scene():
    made = Scene()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(made.control.watch)
        nursery.start_soon(made.control.run)
        await made.start()
        yield made
        nursery.cancel_scope.cancel()


async def test_who_does_not_wait_long_enough_is_told_so_and_the_topic_comes_all_the_same(
    autojump_clock,
):
    async with scene() as it:
        it.store.delay_s = 5.0

        with pytest.raises(NotCarriedOut):
            await it.administration.create_topics([NewTopic("t")], deadline=trio.current_time() + 1)
        assert "t" not in it.control.image.topics

        await trio.sleep(10)
        assert "t" in it.control.image.topics


async def test_a_deadline_in_the_past_decides_nothing(autojump_clock):
    async with scene() as it:
        with pytest.raises(NotCarriedOut):
            await it.administration.create_topics([NewTopic("t")], deadline=trio.current_time())

        await trio.sleep(10)
        assert "t" not in it.control.image.topics


async def test_a_store_that_is_away_changes_nothing(autojump_clock):
    async with scene() as it:
        it.store.broken = True
        later = trio.current_time() + 10
        change = Change("consumer.session.timeout.ms", Operation.SET, "50000")

        with pytest.raises(NotCarriedOut, match="the store is away"):
            await it.create("t")
        with pytest.raises(NotCarriedOut):
            await it.administration.configs.alter(
                [Alteration(ResourceKind.GROUP, "g", [change])], incremental=True
            )
        with pytest.raises(NotCarriedOut):
            await it.administration.update_features([FeatureUpdate("x.version", 2)])
        # What needs no write is answered all the same.
        (answer,) = await it.administration.delete_topics([TopicToDelete("t")], deadline=later)
        assert answer.refused.error == "UNKNOWN_TOPIC_OR_PARTITION"


async def test_features_move_up_and_are_refused_beyond_their_range(autojump_clock):
    async with scene() as it:
        update = it.administration.update_features

        assert await update([FeatureUpdate("x.version", 2)], validate_only=True) is None
        assert it.control.image.features.levels == {}
        assert await update([FeatureUpdate("x.version", 2)]) is None
        assert it.control.image.features.levels == {"x.version": 2}
        refused = await update([FeatureUpdate("x.version", 4)])
        assert refused.error == "INVALID_UPDATE_VERSION"


async def test_topics_are_created_for_who_asks_about_them(autojump_clock):
    async with scene() as it:
        errors = await it.administration.auto_create_topics(["t", "bad/", "t"])

        assert errors == {"bad/": ErrorCode.INVALID_TOPIC_EXCEPTION}
        assert len(it.control.image.topics["t"].partitions) == 1
        assert await it.administration.auto_create_topics(["t"]) == {}


async def test_internal_topics_are_created_from_their_own_configs(autojump_clock):
    async with scene() as it:
        errors = await it.administration.auto_create_topics(
            ["__consumer_offsets", "__transaction_state"]
        )

        assert errors == {}
        offsets = it.control.image.topics["__consumer_offsets"]
        assert len(offsets.partitions) == 50
        assert offsets.configs == {
            "cleanup.policy": "compact",
            "compression.type": "producer",
            "segment.bytes": "104857600",
        }
        assert it.control.image.topics["__transaction_state"].configs == {
            "cleanup.policy": "compact",
            "compression.type": "uncompressed",
            "min.insync.replicas": "1",
            "segment.bytes": "104857600",
            "unclean.leader.election.enable": "false",
        }


async def test_a_topic_that_cannot_be_created_is_simply_not_there(autojump_clock):
    """The state of share groups wants three replicas, and there is one broker."""
    async with scene() as it:
        unknown = {"__share_group_state": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
        assert await it.administration.auto_create_topics(["__share_group_state"]) == unknown

        await it.create("a.b")
        errors = await it.administration.auto_create_topics(["a_b"])
        assert errors == {"a_b": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}

        it.store.broken = True
        errors = await it.administration.auto_create_topics(["t", "bad/"])
        assert errors == {
            "t": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "bad/": ErrorCode.INVALID_TOPIC_EXCEPTION,
        }


async def test_two_who_create_the_same_topic_get_one_topic(autojump_clock):
    async with scene() as it:
        results = []

        async def create():
            results.append(await it.create("t"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(create)
            nursery.start_soon(create)

        assert [isinstance(one, Refused) for one in results] == [False, True]
        assert it.control.image.topics["t"].topic_id == results[0].topic_id


async def test_changes_to_the_same_resource_at_once_are_both_made(autojump_clock):
    """M4: what was decided on a stale image is decided again, not lost."""
    async with scene() as it:

        async def alter(name, value):
            change = Change(name, Operation.SET, value)
            answers = await it.administration.configs.alter(
                [Alteration(ResourceKind.GROUP, "g", [change])], incremental=True
            )
            assert answers == [None]

        async with trio.open_nursery() as nursery:
            nursery.start_soon(alter, "consumer.session.timeout.ms", "50000")
            nursery.start_soon(alter, "consumer.heartbeat.interval.ms", "6000")

        described = it.administration.configs.describe(ResourceKind.GROUP, "g")
        values = {one.name: one.value for one in described}
        assert values["consumer.session.timeout.ms"] == "50000"
        assert values["consumer.heartbeat.interval.ms"] == "6000"
