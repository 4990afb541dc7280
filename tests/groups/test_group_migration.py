"""Groups that change from the classic protocol to the new one and back, while they read."""

from dataclasses import replace

import pytest

from kbroker.groups.caller import Caller
from kbroker.groups.classic_group import ClassicState
from kbroker.groups.consumer_members import MemberState
from kbroker.groups.embedded_protocol import decode_subscription
from kbroker.groups.settings import GroupSettings
from kbroker.wire import ErrorCode, ProtocolError
from kbroker.wire.messages.consumer_protocol import ConsumerProtocolAssignment
from kbroker.wire.messages.join_group import JoinGroupResponse
from kbroker.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from tests.groups.consumer_bench import GROUP, Bench, ClassicConsumer, Consumer, Topics

ALL = {("orders", n) for n in range(4)}


@pytest.fixture
def bench() -> Bench:
    return Bench(Topics(orders=4), GroupSettings(initial_rebalance_delay_ms=0))


def classic_group(bench: Bench, *members: ClassicConsumer) -> None:
    """Bring members into a stable classic group; those who wait in it already join with them."""
    for member in members:
        if member.parked is None:
            member.join()
    bench.advance(0.01)
    for member in members:
        if member.parked is not None:
            assert member.take_join() is ErrorCode.NONE
    for member in sorted(members, key=lambda member: not member.joined.members):
        assert member.sync() is ErrorCode.NONE


def turns(*members: Consumer | ClassicConsumer, rounds: int = 5) -> None:
    for _ in range(rounds):
        for member in members:
            if isinstance(member, Consumer):
                assert member.beat() is ErrorCode.NONE
            else:
                member.live()


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


# --- classic members inside -------------------------------------------------------------------


@pytest.fixture
def mixed(bench: Bench) -> tuple[Bench, Consumer, ClassicConsumer]:
    alice, carol = Consumer(bench, "alice", "orders"), ClassicConsumer(bench, "orders")
    turns(alice)
    carol.join()
    carol.sync()
    turns(alice, carol)
    return bench, alice, carol


Mixed = tuple[Bench, Consumer, ClassicConsumer]


def test_a_classic_member_is_given_its_id_first(bench: Bench) -> None:
    turns(Consumer(bench, "alice", "orders"))
    carol = ClassicConsumer(bench, "orders")
    size = len(bench.group().members)

    assert carol._join_once(9) is ErrorCode.MEMBER_ID_REQUIRED
    assert carol.joined.member_id
    assert len(bench.group().members) == size
    assert ClassicConsumer(bench, "orders")._join_once(3) is ErrorCode.NONE


def test_nobody_leads_classic_members_of_a_consumer_group(mixed: Mixed) -> None:
    _, _, carol = mixed

    assert (carol.joined.leader, carol.joined.members) == ("", [])
    assert carol.joined.protocol_name == "range"
    assert len(carol.owned) == 2


def test_a_classic_member_must_speak_what_the_others_speak(mixed: Mixed) -> None:
    bench, _, _ = mixed

    assert ClassicConsumer(bench, "orders", protocol="mine").join() is (
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    )


def test_a_join_that_is_not_of_the_consumer_protocol_is_refused(mixed: Mixed) -> None:
    bench, _, _ = mixed
    request = ClassicConsumer(bench, "orders").join_request()
    request.member_id = "x"
    for change in ("protocol_type", "metadata", "session"):
        broken = ClassicConsumer(bench, "orders").join_request()
        broken.member_id = "x"
        expected = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if change == "protocol_type":
            broken.protocol_type = "connect"
        elif change == "metadata":
            broken.protocols[0].metadata = b"\x00\x01\x02"
        else:
            broken.session_timeout_ms = 1
            expected = ErrorCode.INVALID_SESSION_TIMEOUT
        ticket = bench.ticket()
        caller = Caller("classic", "/127.0.0.1", 9)
        bench.run(bench.groups.join(broken, caller, ticket, bench.at, "new"))
        answer = bench.answers.pop(ticket)
        assert isinstance(answer, JoinGroupResponse)
        assert answer.error_code == expected


def test_a_classic_member_of_another_generation_is_told_so(mixed: Mixed) -> None:
    """G5."""
    _, _, carol = mixed
    carol.generation += 1

    assert carol.beat() is ErrorCode.ILLEGAL_GENERATION
    assert carol.sync() is ErrorCode.ILLEGAL_GENERATION


def test_a_sync_must_name_what_the_join_was_told(mixed: Mixed) -> None:
    _, _, carol = mixed
    carol.protocol = "mine"

    assert carol.sync() is ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_sync_that_came_too_late_has_to_join_again(mixed: Mixed) -> None:
    bench, _, carol = mixed
    Consumer(bench, "bob", "orders").beat()

    assert carol.sync() is ErrorCode.REBALANCE_IN_PROGRESS
    assert carol.sync() is ErrorCode.REBALANCE_IN_PROGRESS


def test_members_of_the_new_protocol_cannot_use_the_classic_one(mixed: Mixed) -> None:
    bench, alice, _ = mixed
    impostor = ClassicConsumer(bench, "orders")
    impostor.member_id, impostor.generation = "alice", alice.epoch

    assert impostor.beat() is ErrorCode.UNKNOWN_MEMBER_ID
    assert impostor.leave() is ErrorCode.UNKNOWN_MEMBER_ID
    impostor.member_id = "nobody"
    assert impostor.beat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_a_classic_member_has_its_own_session(mixed: Mixed) -> None:
    bench, alice, carol = mixed

    bench.advance(30)

    assert carol.member_id not in bench.group().members
    turns(alice)
    assert alice.reads == ALL


def test_a_classic_member_that_does_not_join_again_is_put_out(mixed: Mixed) -> None:
    """G7: it goes on sending heartbeats, but never joins."""
    bench, alice, carol = mixed
    bob = Consumer(bench, "bob", "orders")
    bob.beat()
    for _ in range(20):
        assert carol.beat() is ErrorCode.REBALANCE_IN_PROGRESS
        turns(alice, bob, rounds=1)
        bench.advance(1)

    assert carol.member_id not in bench.group().members


def test_a_classic_member_that_never_syncs_is_put_out(mixed: Mixed) -> None:
    bench, alice, _ = mixed
    dave = ClassicConsumer(bench, "orders")
    dave.join()
    for _ in range(2):
        bench.advance(9.5)
        dave.beat()
        turns(alice, rounds=1)
    assert dave.member_id in bench.group().members

    bench.advance(1)

    assert dave.member_id not in bench.group().members


def test_a_classic_member_can_change_to_the_new_protocol_under_its_id(mixed: Mixed) -> None:
    bench, alice, carol = mixed
    carol.join()
    new = Consumer(bench, carol.member_id, "orders")

    turns(new, alice)
    bench.advance(25)

    assert bench.group().members[carol.member_id].classic is None


def test_a_static_classic_member_is_known_by_its_instance_id(bench: Bench) -> None:
    """G5, G6."""
    alice = Consumer(bench, "alice", "orders")
    turns(alice)
    carol = ClassicConsumer(bench, "orders", instance_id="left")
    assert carol.join() is ErrorCode.NONE
    assert carol.sync() is ErrorCode.NONE
    turns(alice, carol)
    again = ClassicConsumer(bench, "orders", instance_id="left")
    assert again.join() is ErrorCode.NONE
    assert again.sync() is ErrorCode.NONE

    assert again.owned == carol.owned
    assert carol.beat() is ErrorCode.FENCED_INSTANCE_ID
    assert carol.join() is ErrorCode.FENCED_INSTANCE_ID
    carol.instance_id = "right"
    assert carol.beat() is ErrorCode.UNKNOWN_MEMBER_ID


def test_an_administrator_removes_a_static_member_by_its_instance_id(bench: Bench) -> None:
    turns(Consumer(bench, "alice", "orders"))
    carol = ClassicConsumer(bench, "orders", instance_id="left")
    carol.join()
    ticket = bench.ticket()
    members = [MemberIdentity(group_instance_id=name) for name in ("left", "right")]
    request = LeaveGroupRequest(group_id=GROUP, members=members)

    caller = Caller("admin", "/127.0.0.1", 5)
    bench.run(bench.groups.leave(request, caller, ticket, bench.at))

    answer = bench.answers[ticket]
    assert isinstance(answer, LeaveGroupResponse)
    assert [(each.member_id, each.error_code) for each in answer.members] == [
        (carol.member_id, ErrorCode.NONE),
        ("", ErrorCode.UNKNOWN_MEMBER_ID),
    ]
    assert bench.group().members.keys() == {"alice"}


def test_a_full_group_takes_no_classic_member_either(bench: Bench) -> None:
    turns(Consumer(bench, "alice", "orders"))
    bench.groups.configure(replace(bench.settings, consumer_max_size=1))

    assert ClassicConsumer(bench, "orders").join() is ErrorCode.GROUP_MAX_SIZE_REACHED


# --- downgrade ----------------------------------------------------------------------------------


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
