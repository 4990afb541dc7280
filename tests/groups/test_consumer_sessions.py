"""Members of consumer groups that fall silent, leave, and come back."""

import pytest

from kbroker.config import BrokerConfig, GroupConfig
from kbroker.groups.consumer_group import ConsumerGroupState
from kbroker.wire import ErrorCode
from tests.groups.consumer_bench import GROUP, Bench, Topics
from tests.groups.consumer_clients import Consumer, settle


@pytest.fixture
def bench() -> Bench:
    return Bench(Topics(orders=4, payments=2))


# --- time ----------------------------------------------------------------------------


def test_a_silent_member_is_put_out_after_its_session(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    settle(alice, bob)
    bench.advance(30)
    bob.beat()
    bench.advance(14.9)
    assert "alice" in bench.group().members

    bench.advance(0.1)

    assert "alice" not in bench.group().members
    settle(bob)
    assert bob.reads == {("orders", n) for n in range(4)}


def test_members_lost_at_the_same_moment_are_put_out_together(bench: Bench) -> None:
    consumers = [Consumer(bench, name, "orders") for name in "abc"]
    settle(*consumers)

    bench.advance(45)

    assert bench.group().state is ConsumerGroupState.EMPTY
    assert bench.groups.next_deadline() is None


def test_a_group_has_the_timeouts_of_its_own_configs(bench: Bench) -> None:
    overrides = {
        "consumer.session.timeout.ms": "50000",
        "consumer.heartbeat.interval.ms": "6000",
    }
    bench.config = GroupConfig.of(BrokerConfig.of({}), overrides)
    alice = Consumer(bench, "alice", "orders")
    alice.beat()

    assert alice.last.heartbeat_interval_ms == 6_000
    bench.advance(49)
    assert "alice" in bench.group().members
    bench.advance(1)
    assert bench.group().members == {}


def test_a_member_that_does_not_let_go_is_put_out_after_its_rebalance_timeout(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    alice.beat()
    bob.beat()
    alice.beat()
    stubborn = alice.request(alice.epoch)
    stubborn.topic_partitions = None
    for _ in range(9):
        bench.advance(1)
        assert bench.heartbeat(stubborn).error_code == ErrorCode.NONE
    bench.advance(0.9)
    assert "alice" in bench.group().members

    bench.advance(0.1)

    assert "alice" not in bench.group().members
    settle(bob)
    assert len(bob.reads) == 4


def test_a_member_that_let_go_in_time_stays(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    settle(alice, bob)

    bench.advance(20)

    assert bench.group().members.keys() == {"alice", "bob"}


# --- leaving ---------------------------------------------------------------------------


def test_what_a_leaving_member_had_is_free_at_once(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    settle(alice, bob)

    assert alice.leave() is ErrorCode.NONE
    bob.beat()

    assert len(bob.reads) == 4


def test_a_group_without_members_is_empty_and_can_be_deleted(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    alice.beat()
    assert bench.groups.delete(GROUP) == (ErrorCode.NON_EMPTY_GROUP, [])
    alice.leave()
    assert bench.group().state is ConsumerGroupState.EMPTY

    error, records = bench.groups.delete(GROUP)
    for record in records:
        bench.groups.replay(record)

    assert error is ErrorCode.NONE
    assert GROUP not in bench.groups


# --- static members ----------------------------------------------------------------------


def test_a_static_member_finds_its_partitions_again(bench: Bench) -> None:
    """G6."""
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    bob = Consumer(bench, "bob", "orders", instance_id="right")
    settle(alice, bob)
    reads, epoch = alice.reads, bench.group().group_epoch
    assert alice.leave(-2) is ErrorCode.NONE
    assert bench.group().members["alice"].member_epoch == -2

    again = Consumer(bench, "alice-2", "orders", instance_id="left")
    settle(again, bob)

    assert again.reads == reads
    assert bench.group().group_epoch == epoch
    assert bench.group().members.keys() == {"alice-2", "bob"}
    bench.advance(44)
    assert "alice-2" in bench.group().members


def test_a_static_member_that_stays_away_is_put_out_after_its_session(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    settle(alice)
    alice.leave(-2)

    bench.advance(45)

    assert bench.group().members == {}


def test_a_static_member_that_subscribes_to_something_else_keeps_its_place(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    bob = Consumer(bench, "bob", "orders", instance_id="right")
    settle(alice, bob)
    reads = alice.reads
    alice.leave(-2)

    again = Consumer(bench, "alice-2", "orders", "payments", instance_id="left")
    settle(again, bob)

    payments = {("payments", 0), ("payments", 1)}
    assert again.reads >= payments
    assert again.reads - payments < reads
    assert len(again.reads) == len(bob.reads) == 3


def test_an_instance_id_has_one_member_at_a_time(bench: Bench) -> None:
    """G5: the second process is refused as long as the first did not leave."""
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    settle(alice)
    thief = Consumer(bench, "thief", "orders", instance_id="left")

    assert thief.beat() is ErrorCode.UNRELEASED_INSTANCE_ID
    thief.epoch = 1
    assert thief.beat() is ErrorCode.FENCED_INSTANCE_ID
    assert thief.leave() is ErrorCode.FENCED_INSTANCE_ID


def test_an_instance_id_that_nobody_has_is_unknown(bench: Bench) -> None:
    settle(Consumer(bench, "alice", "orders"))
    stranger = Consumer(bench, "alice", "orders", instance_id="left")
    stranger.epoch = 1

    assert stranger.beat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_may_join_again_under_its_own_id(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    settle(alice)
    alice.epoch, alice.owned = 0, set()

    assert alice.beat() is ErrorCode.NONE
    assert len(alice.reads) == 4


def test_a_static_member_can_leave_for_good(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    settle(alice)

    assert alice.leave(-1) is ErrorCode.NONE
    assert bench.group().members == {}


def test_a_static_member_that_is_away_need_not_give_up_what_it_was_asked_for(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    bob = Consumer(bench, "bob", "orders")
    alice.beat()
    bob.beat()
    alice.beat()
    alice.leave(-2)

    bob.beat()

    assert len(bob.reads) == 2
    bench.advance(20)
    assert "alice" in bench.group().members
