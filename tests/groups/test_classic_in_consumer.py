"""Members of the classic protocol inside a consumer group."""

from dataclasses import replace

import pytest

from kbroker.groups.caller import Caller
from kbroker.wire import ErrorCode
from kbroker.wire.messages.join_group import JoinGroupResponse
from kbroker.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from tests.groups.consumer_bench import GROUP, Bench, Topics
from tests.groups.consumer_clients import ClassicConsumer, Consumer, turns

ALL = {("orders", n) for n in range(4)}


@pytest.fixture
def bench() -> Bench:
    return Bench(Topics(orders=4))


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
