"""consumer.assignment.interval.ms: how long a target assignment holds at least."""

from dataclasses import replace

from kbroker.config import BrokerConfig, GroupConfig
from kbroker.groups.consumer_group import ConsumerGroupState
from kbroker.groups.settings import GroupSettings
from tests.groups.consumer_bench import AT_ONCE, Bench, Topics
from tests.groups.consumer_clients import ClassicConsumer, Consumer, turns

INTERVAL_S = 1.0


def two_within_the_interval(bench: Bench) -> tuple[Consumer, Consumer]:
    """One who has all, and one who came too soon after to have anything."""
    first, second = Consumer(bench, "first", "orders"), Consumer(bench, "second", "orders")
    first.beat()
    second.beat()
    return first, second


def test_a_newcomer_is_a_member_of_the_last_target_until_the_interval_is_over():
    bench = Bench(Topics(orders=4), GroupSettings())
    first, second = two_within_the_interval(bench)

    assert (second.epoch, second.reads) == (1, set())
    assert bench.group().state is ConsumerGroupState.ASSIGNING
    bench.advance(INTERVAL_S - 0.001)
    second.beat()
    assert bench.group().assignment_epoch == 1
    bench.advance(0.001)
    second.beat()
    assert bench.group().assignment_epoch == 2

    for _ in range(3):
        first.beat()
        second.beat()
    assert len(first.reads) == len(second.reads) == 2


def test_a_group_may_set_an_interval_of_its_own():
    broker = BrokerConfig.of({})
    bench = Bench(Topics(orders=4), GroupSettings())
    bench.config = GroupConfig.of(broker, {"consumer.assignment.interval.ms": "3000"})
    _, second = two_within_the_interval(bench)

    bench.advance(2.9)
    second.beat()
    assert bench.group().assignment_epoch == 1
    bench.advance(0.1)
    second.beat()
    assert bench.group().assignment_epoch == 2

    bench.config = GroupConfig.of(broker, {"consumer.assignment.interval.ms": "0"})
    Consumer(bench, "third", "orders").beat()
    assert bench.group().assignment_epoch == 3


def test_a_clock_that_was_set_back_makes_nobody_wait():
    bench = Bench(Topics(orders=4), GroupSettings())
    bench.now += 100_000
    two_within_the_interval(bench)
    bench.now -= 100_000

    Consumer(bench, "third", "orders").beat()

    assert bench.group().assignment_epoch == 3


def test_classic_members_alone_are_told_when_there_may_be_a_target():
    """Nobody of the new protocol is there whose heartbeat would have it computed."""
    bench = Bench(
        Topics(orders=4),
        replace(
            AT_ONCE,
            consumer_assignment_interval_ms=1_000,
            consumer_migration_policy="upgrade",
        ),
    )
    consumer = Consumer(bench, "consumer", "orders")
    consumer.beat()
    classic = ClassicConsumer(bench, "orders")
    classic.join()
    classic.sync()
    bench.advance(INTERVAL_S)
    turns(consumer, classic)
    assert classic.owned

    consumer.leave()
    for _ in range(3):
        bench.advance(INTERVAL_S)
        classic.turn()

    assert classic.owned == {("orders", number) for number in range(4)}
    assert bench.group().state is ConsumerGroupState.STABLE
