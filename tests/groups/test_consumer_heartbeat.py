"""ConsumerGroupHeartbeat: what members are told, in the cases that KIP-848 names."""

from dataclasses import replace

import pytest

from kbroker.groups.consumer_group import ConsumerGroupState
from kbroker.groups.consumer_members import MemberState
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.groups.consumer_bench import AT_ONCE, GROUP, Bench, Topics
from tests.groups.consumer_clients import Consumer, settle


@pytest.fixture
def bench() -> Bench:
    return Bench(Topics(orders=4, payments=2))


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
    bench = Bench(Topics(orders=4), replace(AT_ONCE, consumer_max_size=1))
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
