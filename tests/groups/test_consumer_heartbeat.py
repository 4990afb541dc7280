"""ConsumerGroupHeartbeat: what members are told, in the cases that KIP-848 names."""

from dataclasses import replace

import pytest

from kbroker.config import BrokerConfig, GroupConfig
from kbroker.groups.consumer_group import ConsumerGroupState
from kbroker.groups.consumer_members import MemberState
from kbroker.groups.settings import GroupSettings
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.groups.consumer_bench import GROUP, Bench, Consumer, Topics


@pytest.fixture
def bench() -> Bench:
    return Bench(Topics(orders=4, payments=2))


def settle(*consumers: Consumer) -> None:
    """Let all send heartbeats until nothing moves."""
    for _ in range(4):
        for consumer in consumers:
            assert consumer.beat() is ErrorCode.NONE


# --- joining -------------------------------------------------------------------


def test_the_first_member_gets_everything_with_its_first_answer(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")

    assert alice.beat() is ErrorCode.NONE

    assert alice.epoch == 1
    assert alice.reads == {("orders", n) for n in range(4)}
    assert alice.last.heartbeat_interval_ms == 5_000
    assert bench.group().state is ConsumerGroupState.STABLE


def test_a_member_without_an_id_is_given_one_before_version_1(bench: Bench) -> None:
    request = Consumer(bench, "", "orders").request(0)

    answer = bench.heartbeat(request, version=0)

    assert answer.error_code == ErrorCode.NONE
    assert answer.member_id == "made-1"


def test_an_answer_has_an_assignment_only_if_it_changed_or_all_was_told(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    alice.beat()
    short = ConsumerGroupHeartbeatRequest(group_id=GROUP, member_id="alice", member_epoch=1)

    assert bench.heartbeat(short).assignment is None
    alice.beat()
    assert alice.last.assignment is not None


def test_a_second_member_waits_until_the_first_gave_up_its_partitions(bench: Bench) -> None:
    """G4, G10: the new owner gets a partition when the old one said it let go."""
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    alice.beat()

    bob.beat()
    assert bob.epoch == 2
    assert bob.reads == set()
    assert bench.group().members["bob"].state is MemberState.UNRELEASED_PARTITIONS

    alice.beat()  # is told to keep two
    assert alice.epoch == 1
    assert bench.group().members["alice"].state is MemberState.UNREVOKED_PARTITIONS
    bob.beat()
    assert bob.reads == set()

    alice.beat()  # says that it did
    assert alice.epoch == 2
    bob.beat()
    assert bob.reads == {("orders", 2), ("orders", 3)}
    assert alice.reads == {("orders", 0), ("orders", 1)}
    assert bench.group().state is ConsumerGroupState.STABLE


def test_silence_about_owned_partitions_revokes_nothing(bench: Bench) -> None:
    """G4: a heartbeat without the owned partitions says nothing about them."""
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    alice.beat()
    bob.beat()
    alice.beat()

    short = ConsumerGroupHeartbeatRequest(group_id=GROUP, member_id="alice", member_epoch=1)
    bench.heartbeat(short)

    assert bench.group().members["alice"].state is MemberState.UNREVOKED_PARTITIONS


def test_a_partition_that_comes_back_while_it_is_revoked_is_given_again(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    alice.beat()
    bob.beat()
    alice.beat()
    bob.leave()

    settle(alice)

    assert alice.reads == {("orders", n) for n in range(4)}


def test_a_known_member_may_join_again_at_any_time(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    settle(alice, bob)
    reads = alice.reads
    alice.epoch, alice.owned = 0, set()

    assert alice.beat() is ErrorCode.NONE
    assert alice.reads == reads


def test_a_member_may_subscribe_to_nothing(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice"), Consumer(bench, "bob")

    settle(alice, bob)

    assert (alice.epoch, bob.epoch) == (1, 1)
    assert bench.group().state is ConsumerGroupState.STABLE


def test_a_topic_that_does_not_exist_is_waited_for(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "later")
    settle(alice)
    assert alice.reads == set()

    bench.topics.create("later", 2)
    bench.topics_changed()
    settle(alice)

    assert alice.reads == {("later", 0), ("later", 1)}
    assert alice.epoch == 2


# --- what must be in a request -----------------------------------------------------


def joining(**fields: object) -> ConsumerGroupHeartbeatRequest:
    request = ConsumerGroupHeartbeatRequest(
        group_id=GROUP,
        member_id="alice",
        rebalance_timeout_ms=1_000,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
    )
    for name, value in fields.items():
        setattr(request, name, value)
    return request


@pytest.mark.parametrize(
    ("fields", "version", "message"),
    [
        ({"group_id": ""}, 1, "GroupId can't be empty."),
        ({"member_id": ""}, 1, "MemberId can't be empty."),
        ({"member_id": "", "member_epoch": 3}, 0, "MemberId can't be empty."),
        ({"member_id": "", "member_epoch": -1}, 0, "MemberId can't be empty."),
        ({"instance_id": ""}, 1, "InstanceId can't be empty."),
        ({"rack_id": ""}, 1, "RackId can't be empty."),
        (
            {"rebalance_timeout_ms": -1},
            1,
            "RebalanceTimeoutMs must be provided in first request.",
        ),
        ({"topic_partitions": None}, 1, "TopicPartitions must be empty when (re-)joining."),
        (
            {"subscribed_topic_names": None},
            1,
            (
                "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null "
                "when (re-)joining."
            ),
        ),
        ({"member_epoch": -2}, 1, "InstanceId can't be null."),
        ({"member_epoch": -3}, 1, "MemberEpoch is invalid."),
    ],
)
def test_a_request_that_contradicts_itself_is_invalid(
    bench: Bench, fields: dict[str, object], version: int, message: str
) -> None:
    answer = bench.heartbeat(joining(**fields), version)

    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_REQUEST, message)
    assert bench.log == []


def test_an_assignor_must_be_one_of_those_that_are_configured(bench: Bench) -> None:
    answer = bench.heartbeat(joining(server_assignor="sticky"))

    assert answer.error_code == ErrorCode.UNSUPPORTED_ASSIGNOR
    assert answer.error_message == (
        "ServerAssignor sticky is not supported. Supported assignors: uniform, range."
    )


def test_a_group_that_does_not_exist_is_made_by_a_join_alone(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    for epoch in (1, -1):
        answer = bench.heartbeat(alice.request(epoch))
        assert answer.error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_full_group_takes_nobody_new() -> None:
    bench = Bench(Topics(orders=4), GroupSettings(consumer_max_size=1))
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    alice.beat()

    assert bob.beat() is ErrorCode.GROUP_MAX_SIZE_REACHED
    assert alice.beat() is ErrorCode.NONE


# --- epochs ------------------------------------------------------------------------


def test_a_member_nobody_knows_is_told_so(bench: Bench) -> None:
    """G5."""
    Consumer(bench, "alice", "orders").beat()
    mallory = Consumer(bench, "mallory", "orders")
    mallory.epoch = 1

    assert mallory.beat() is ErrorCode.UNKNOWN_MEMBER_ID
    assert mallory.leave() is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("epoch", [1, 7])
def test_an_epoch_that_is_not_the_members_is_fenced(bench: Bench, epoch: int) -> None:
    """G5."""
    alice = Consumer(bench, "alice", "orders")
    for topics in (["orders"], ["orders", "payments"], ["payments"]):
        alice.topics = topics
        settle(alice)
    alice.epoch = epoch

    assert alice.beat() is ErrorCode.FENCED_MEMBER_EPOCH


def test_the_epoch_before_is_good_enough_when_the_answer_was_lost(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    settle(alice)
    alice.topics = ["orders", "payments"]
    lost = bench.heartbeat(alice.request(alice.epoch))
    assert lost.member_epoch == 2

    assert alice.beat() is ErrorCode.NONE
    assert alice.epoch == 2


def test_the_epoch_before_is_fenced_if_the_member_owns_what_it_should_not(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    settle(alice)
    alice.topics = ["orders", "payments"]
    bench.heartbeat(alice.request(alice.epoch))
    nothing_said = alice.request(alice.epoch)
    nothing_said.topic_partitions = None
    assert bench.heartbeat(nothing_said).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    alice.owned.add((bytes(16), 0))  # type: ignore[arg-type]

    assert alice.beat() is ErrorCode.FENCED_MEMBER_EPOCH


def test_a_change_of_subscription_gives_the_group_a_new_epoch(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    settle(alice)
    alice.topics = ["payments"]

    settle(alice)

    assert bench.group().group_epoch == alice.epoch == 2
    assert alice.reads == {("payments", 0), ("payments", 1)}


def test_a_heartbeat_that_changes_nothing_writes_nothing(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    settle(alice, bob)
    written = len(bench.log)

    settle(alice, bob)

    assert len(bench.log) == written


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
