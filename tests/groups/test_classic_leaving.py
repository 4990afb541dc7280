"""Leaving a classic group."""

from kbroker.wire import ErrorCode
from kbroker.wire.messages.leave_group import (
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from tests.groups.bench import Bench


def test_who_leaves_makes_the_others_rebalance():
    bench = Bench()
    leader, other = bench.stable(2)

    answer = bench.leave(leader)

    assert answer == LeaveGroupResponse(
        members=[MemberResponse(member_id=leader, group_instance_id=None)]
    )
    assert bench.heartbeat(other, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    assert bench.answers[bench.join(other)].leader == other


def test_when_the_last_member_leaves_the_group_is_empty_at_once():
    bench = Bench()
    (leader,) = bench.stable(1)

    bench.leave(leader)

    assert bench.state() == "Empty"
    assert bench.shard.next_deadline() == 100 + 600  # nothing is waited for but expired offsets


def test_many_can_leave_at_once_each_with_its_own_error():
    bench = Bench()
    leader, other = bench.stable(2)

    answer = bench.leave(
        leader,
        "stranger",
        MemberIdentity(member_id="", group_instance_id="nobody"),
        MemberIdentity(member_id="", group_instance_id=None),
        MemberIdentity(member_id=other, group_instance_id="nobody"),
    )

    unknown = ErrorCode.UNKNOWN_MEMBER_ID
    assert [each.error_code for each in answer.members] == [0, unknown, unknown, unknown, unknown]
    assert answer.error_code == ErrorCode.NONE
    assert bench.state() == "PreparingRebalance"


def test_if_nobody_who_is_named_is_there_nothing_happens():
    bench = Bench()
    bench.stable(1)

    bench.leave("stranger")

    assert bench.state() == "Stable"


def test_before_version_3_one_member_leaves_and_the_error_is_the_answers():
    bench = Bench()
    (leader,) = bench.stable(1)

    assert bench.leave("stranger", version=2) == LeaveGroupResponse(
        error_code=ErrorCode.UNKNOWN_MEMBER_ID
    )
    assert bench.leave(leader, version=2) == LeaveGroupResponse()
    assert bench.state() == "Empty"


def test_leaving_a_group_that_nobody_knows_is_an_error_of_each_member():
    bench = Bench()

    answer = bench.leave("m")

    assert answer.error_code == ErrorCode.NONE
    assert [each.error_code for each in answer.members] == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert bench.leave("m", group="").error_code == ErrorCode.INVALID_GROUP_ID


def test_a_pending_member_can_leave():
    bench = Bench()
    leader, other = bench.stable(2)
    pending = bench.member_id()
    first, second = bench.join(leader), bench.join(other)
    assert first in bench.parked

    answer = bench.leave(pending)

    assert answer.members[0].error_code == ErrorCode.NONE
    assert bench.answers[first].generation_id == bench.answers[second].generation_id == 2


def test_a_pending_member_that_leaves_an_empty_group_leaves_it_empty():
    bench = Bench()
    pending = bench.member_id()

    assert bench.leave(pending).members[0].error_code == ErrorCode.NONE
    assert bench.state() == "Empty"
    assert bench.shard.next_deadline() == bench.now + 600, "its session is not waited for"


def test_who_leaves_while_parked_is_answered():
    bench = Bench()
    bench.join(version=3)
    bench.join(version=3)
    bench.wait(6)
    sync = bench.sync("client-2", 1)

    bench.leave("client-2")

    assert bench.answers[sync].error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_if_the_one_who_was_waited_for_leaves_the_others_go_on():
    bench = Bench()
    leader, other = bench.stable(2)
    ticket = bench.join(leader)

    bench.leave(other)

    assert bench.answers[ticket].generation_id == 2
