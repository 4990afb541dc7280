"""What consumer groups subscribe to: topics that change, regular expressions, assignors."""

from dataclasses import replace

import pytest

from kbroker.wire import ErrorCode
from tests.groups.consumer_bench import GROUP, Bench, Topics
from tests.groups.consumer_clients import Consumer, settle


@pytest.fixture
def bench() -> Bench:
    return Bench(Topics(orders=4, payments=2))


# --- assignors and topics -------------------------------------------------------------------


def test_the_assignor_that_most_members_ask_for_assigns(bench: Bench) -> None:
    bench.topics.grow("payments", 4)
    consumers = [Consumer(bench, name, "orders", "payments", assignor="range") for name in "ab"]
    consumers.append(Consumer(bench, "c", "orders", "payments"))
    settle(*consumers)
    settle(*consumers)

    assert bench.groups.describe(GROUP).assignor_name == "range"
    assert consumers[0].reads == {("orders", 0), ("orders", 1), ("payments", 0), ("payments", 1)}


def test_new_partitions_are_assigned_when_a_topic_grows(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    settle(alice)
    bench.topics.grow("orders", 6)
    bench.topics_changed()

    settle(alice)

    assert len(alice.reads) == 6


def test_a_change_of_topics_nobody_reads_changes_nothing(bench: Bench) -> None:
    settle(Consumer(bench, "alice", "orders"))
    written = len(bench.log)

    bench.topics.delete("payments")
    bench.topics_changed()

    assert len(bench.log) == written


def test_a_topic_made_anew_under_its_name_is_another_topic(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    settle(alice)
    old = set(alice.owned)
    bench.topics.delete("orders")
    bench.topics.create("orders", 2)
    bench.topics_changed()

    settle(alice)

    assert len(alice.owned) == 2
    assert not alice.owned & old


# --- regular expressions ----------------------------------------------------------------------


def test_a_regular_expression_subscribes_to_what_it_fits(bench: Bench) -> None:
    alice = Consumer(bench, "alice", regex="pay.*|ord")
    settle(alice)

    assert alice.reads == {("payments", 0), ("payments", 1)}
    assert bench.group().resolved["pay.*|ord"].topics == {"payments"}


def test_a_regular_expression_finds_topics_that_come_later(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders", regex="x-.*")
    settle(alice)
    bench.topics.create("x-1", 1)
    bench.topics_changed()

    settle(alice)

    assert ("x-1", 0) in alice.reads
    assert len(alice.reads) == 5


def test_a_regular_expression_goes_with_its_last_subscriber(bench: Bench) -> None:
    alice = Consumer(bench, "alice", regex="pay.*")
    bob = Consumer(bench, "bob", regex="pay.*")
    settle(alice, bob)
    alice.leave()
    assert "pay.*" in bench.group().resolved

    bob.regex, bob.topics = "", ["orders"]
    settle(bob)

    assert bench.group().resolved == {}
    assert len(bob.reads) == 4


def test_what_is_no_regular_expression_is_refused(bench: Bench) -> None:
    alice = Consumer(bench, "alice", regex="(")

    assert alice.beat() is ErrorCode.INVALID_REGULAR_EXPRESSION
    assert "SubscribedTopicRegex `(` is not a valid regular expression" in str(
        alice.last.error_message
    )
    assert GROUP not in bench.groups


def test_settings_can_change_while_groups_work(bench: Bench) -> None:
    settle(Consumer(bench, "alice", "orders"))
    bench.groups.configure(replace(bench.settings, consumer_max_size=1))

    assert Consumer(bench, "bob", "orders").beat() is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_all_groups_can_be_walked_through(bench: Bench) -> None:
    settle(Consumer(bench, "alice", "orders"))

    assert [group.group_id for group in bench.groups] == [GROUP]
    assert bench.groups.is_subscribed(GROUP, "orders")
    assert not bench.groups.is_subscribed(GROUP, "payments")
