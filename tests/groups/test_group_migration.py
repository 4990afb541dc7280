"""Groups that change from the classic protocol to the new one and back, while they read."""

from dataclasses import replace

import pytest

from kbroker.groups.classic_group import ClassicState
from kbroker.groups.consumer_members import MemberState
from kbroker.groups.embedded_protocol import decode_subscription
from kbroker.wire import ErrorCode, ProtocolError
from kbroker.wire.messages.consumer_protocol import ConsumerProtocolAssignment
from tests.groups.consumer_bench import GROUP, Bench, Topics
from tests.groups.consumer_clients import ClassicConsumer, Consumer, classic_group, turns

ALL = {("orders", n) for n in range(4)}


@pytest.fixture
def bench() -> Bench:
    return Bench(Topics(orders=4))


def reads(*members: Consumer | ClassicConsumer) -> list[set[tuple[str, int]]]:
    return [each.reads if isinstance(each, Consumer) else each.owned for each in members]


# --- upgrade ---------------------------------------------------------------------------


def test_an_empty_classic_group_becomes_a_consumer_group(bench: Bench) -> None:
    carol = ClassicConsumer(bench, "orders")
    classic_group(bench, carol)
    carol.leave()
    bench.advance(0.1)

    alice = Consumer(bench, "alice", "orders")
    turns(alice)

    assert alice.reads == ALL
    assert GROUP not in bench.classic


def test_members_of_a_classic_group_move_over_with_their_partitions(bench: Bench) -> None:
    carol, dave = ClassicConsumer(bench, "orders"), ClassicConsumer(bench, "orders")
    classic_group(bench, carol, dave)
    assert carol.owned | dave.owned == ALL
    generation = carol.generation

    alice = Consumer(bench, "alice", "orders")
    assert alice.beat() is ErrorCode.NONE

    assert GROUP not in bench.classic
    group = bench.group()
    assert group.group_epoch == generation + 1
    assert bench.names(group.members[carol.member_id].assigned) == carol.owned
    assert carol.beat() is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize("cooperative", [False, True])
def test_old_and_new_members_share_the_partitions(bench: Bench, cooperative: bool) -> None:
    """G4, G10."""
    carol = ClassicConsumer(bench, "orders", cooperative=cooperative)
    dave = ClassicConsumer(bench, "orders", cooperative=cooperative)
    classic_group(bench, carol, dave)
    alice = Consumer(bench, "alice", "orders")

    turns(alice, carol, dave)

    owned = reads(alice, carol, dave)
    assert set().union(*owned) == ALL
    assert sum(map(len, owned)) == 4
    assert all(owned)
    bench.advance(29)
    assert len(bench.group().members) == 3


def test_a_classic_member_waits_for_what_others_hold(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    turns(alice, bob)
    carol = ClassicConsumer(bench, "orders")
    assert carol.join() is ErrorCode.NONE
    assert carol.sync() is ErrorCode.NONE
    assert carol.owned == set()
    member = bench.group().members[carol.member_id]
    assert member.state is MemberState.UNRELEASED_PARTITIONS
    assert carol.beat() is ErrorCode.NONE

    turns(alice, bob)

    assert carol.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    turns(carol, rounds=1)
    assert len(carol.owned) == 1


def test_whoever_waits_in_a_classic_rebalance_is_told_to_join_again(bench: Bench) -> None:
    carol, dave = ClassicConsumer(bench, "orders"), ClassicConsumer(bench, "orders")
    classic_group(bench, carol)
    assert dave.join() is None

    Consumer(bench, "alice", "orders").beat()

    assert dave.take_join() is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize(
    ("settings", "protocol_type", "reason"),
    [
        ({"consumer_migration_policy": "downgrade"}, "consumer", "online upgrade is disabled"),
        ({}, "connect", "does not use the consumer embedded protocol"),
        ({"consumer_max_size": 0}, "consumer", "exceeds the consumer group maximum size"),
    ],
)
def test_a_classic_group_that_cannot_move_stays(
    bench: Bench, settings: dict[str, object], protocol_type: str, reason: str
) -> None:
    carol = ClassicConsumer(bench, "orders")
    classic_group(bench, carol)
    classic = bench.classic.get(GROUP)
    assert classic is not None
    classic.protocol_type = protocol_type
    bench.groups.configure(replace(bench.settings, **settings))  # type: ignore[arg-type]

    alice = Consumer(bench, "alice", "orders")

    assert alice.beat() is ErrorCode.GROUP_ID_NOT_FOUND
    assert reason in str(alice.last.error_message)
    assert carol.beat() is ErrorCode.NONE


@pytest.mark.parametrize(
    ("assignment", "reason"),
    [
        (b"\x00", "the embedded consumer protocol is malformed"),
        (b"\xff\xff", "the embedded consumer protocol is malformed"),
        (
            b"\x00\x00" + ConsumerProtocolAssignment(user_data=b"mine").encode_bytes(0),
            "an unsupported custom assignor is in use",
        ),
    ],
)
def test_what_a_custom_assignor_wrote_is_not_lost(
    bench: Bench, assignment: bytes, reason: str
) -> None:
    carol = ClassicConsumer(bench, "orders")
    classic_group(bench, carol)
    classic = bench.classic.get(GROUP)
    assert classic is not None
    classic.members[carol.member_id].assignment = assignment

    alice = Consumer(bench, "alice", "orders")

    assert alice.beat() is ErrorCode.GROUP_ID_NOT_FOUND
    assert reason in str(alice.last.error_message)


def test_a_partition_that_a_classic_leader_gave_to_two_has_one_owner(bench: Bench) -> None:
    """G4."""
    carol, dave = ClassicConsumer(bench, "orders"), ClassicConsumer(bench, "orders")
    classic_group(bench, carol, dave)
    classic = bench.classic.get(GROUP)
    assert classic is not None
    classic.members[dave.member_id].assignment = classic.members[carol.member_id].assignment

    Consumer(bench, "alice", "orders").beat()

    members = bench.group().members
    assert len(members[carol.member_id].assigned) == 2
    assert len(members[dave.member_id].assigned) == 0


def test_a_static_member_keeps_its_partitions_when_it_changes_its_protocol(bench: Bench) -> None:
    """G6."""
    carol = ClassicConsumer(bench, "orders", instance_id="left")
    dave = ClassicConsumer(bench, "orders", instance_id="right")
    classic_group(bench, carol, dave)

    alice = Consumer(bench, "alice", "orders", instance_id="left")
    turns(alice, dave)

    assert alice.reads == carol.owned
    assert bench.group().members.keys() == {"alice", dave.member_id}
    assert carol.beat() is ErrorCode.FENCED_INSTANCE_ID
    bench.advance(29)
    assert len(bench.group().members) == 2


# --- downgrade ----------------------------------------------------------------------------------


@pytest.fixture
def mixed(bench: Bench) -> tuple[Bench, Consumer, ClassicConsumer]:
    alice, carol = Consumer(bench, "alice", "orders"), ClassicConsumer(bench, "orders")
    turns(alice)
    carol.join()
    carol.sync()
    turns(alice, carol)
    return bench, alice, carol


Mixed = tuple[Bench, Consumer, ClassicConsumer]


def test_the_group_becomes_classic_when_the_last_new_member_leaves(mixed: Mixed) -> None:
    bench, alice, carol = mixed
    epoch = bench.group().group_epoch

    assert alice.leave() is ErrorCode.NONE

    assert GROUP not in bench.groups
    classic = bench.classic.get(GROUP)
    assert classic is not None
    assert classic.generation == epoch
    bench.advance(0)
    assert classic.state is ClassicState.PREPARING_REBALANCE
    assert carol.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    classic_group(bench, carol)
    assert carol.owned == ALL
    assert carol.generation > epoch
    assert bench.groups.next_deadline() is None


def test_the_group_becomes_classic_when_the_last_new_member_is_lost(mixed: Mixed) -> None:
    bench, _, carol = mixed
    for _ in range(5):
        bench.advance(9)
        carol.beat()

    assert GROUP in bench.classic


def test_a_failover_right_after_the_change_does_not_forget_the_rebalance(mixed: Mixed) -> None:
    """The partitions of the member that left are nobody's until the others rebalance."""
    bench, alice, carol = mixed
    alice.leave()

    bench.reload(compact=True)
    bench.advance(0)

    assert carol.beat() is ErrorCode.REBALANCE_IN_PROGRESS
    classic_group(bench, carol)
    assert carol.owned == ALL
    bench.reload(compact=False)
    bench.advance(0)
    assert carol.beat() is ErrorCode.NONE


def test_a_member_holds_what_it_was_not_yet_asked_for_over_two_changes(bench: Bench) -> None:
    """G4: back and forth before the classic member heard of anything."""
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    turns(alice)
    carol = ClassicConsumer(bench, "orders", instance_id="left")
    carol.join()
    carol.sync()
    assert carol.owned == ALL
    bob = Consumer(bench, "bob", "orders")
    bob.beat()
    bob.leave()
    assert GROUP in bench.classic

    dave = Consumer(bench, "dave", "orders")
    dave.beat()

    assert dave.reads == set()
    for _ in range(5):
        carol.turn()
        dave.beat()
    assert len(dave.reads) == len(carol.owned) == 2


def test_the_policy_can_forbid_to_go_back(mixed: Mixed) -> None:
    bench, alice, carol = mixed
    bench.groups.configure(replace(bench.settings, consumer_migration_policy="upgrade"))

    alice.leave()
    turns(carol)

    assert GROUP in bench.groups
    assert carol.owned == ALL


def test_a_group_too_large_for_the_classic_protocol_stays(mixed: Mixed) -> None:
    bench, alice, _ = mixed
    bench.groups.configure(replace(bench.settings, max_size=0))

    alice.leave()

    assert GROUP in bench.groups


def test_the_last_member_of_all_leaves_an_empty_consumer_group(mixed: Mixed) -> None:
    bench, alice, carol = mixed
    carol.leave()
    alice.leave()

    assert bench.group().members == {}


def test_an_empty_consumer_group_gives_way_to_a_classic_member(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    turns(alice)
    alice.leave()
    carol = ClassicConsumer(bench, "orders")
    carol.member_id = "unknown"
    assert carol.join() is ErrorCode.UNKNOWN_MEMBER_ID
    assert GROUP in bench.groups

    carol.member_id = ""
    classic_group(bench, carol)

    assert GROUP not in bench.groups
    assert carol.owned == ALL


def test_a_classic_process_in_the_place_of_the_last_new_member_ends_the_migration(
    bench: Bench,
) -> None:
    """G6."""
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    turns(alice)
    carol = ClassicConsumer(bench, "orders")
    carol.join()
    carol.sync()
    turns(alice, carol)
    dave = ClassicConsumer(bench, "orders", instance_id="left")

    assert dave.join() is None
    bench.advance(0)

    assert GROUP in bench.classic
    classic_group(bench, dave, carol)
    assert dave.owned | carol.owned == ALL


def test_a_classic_process_can_take_the_place_of_one_of_many(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders", instance_id="left")
    bob = Consumer(bench, "bob", "orders")
    turns(alice, bob)
    carol = ClassicConsumer(bench, "orders", instance_id="left")

    assert carol.join() is ErrorCode.NONE
    assert carol.sync() is ErrorCode.NONE

    assert carol.owned == alice.reads
    assert bench.group().members.keys() == {carol.member_id, "bob"}


# --- the bytes in between ----------------------------------------------------------------------


def test_a_subscription_of_a_newer_version_is_read_as_far_as_we_know_it() -> None:
    carol = ClassicConsumer(Bench(Topics(orders=1)), "orders")
    data = (7).to_bytes(2) + carol.subscription()[2:] + bytes(4) + b"\xff\xff"

    assert decode_subscription(data).topics == ["orders"]


def test_bytes_without_a_version_are_no_subscription() -> None:
    with pytest.raises(ProtocolError):
        decode_subscription(b"\x00")
