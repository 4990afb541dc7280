"""Joining a classic group, in every state."""

import pytest

from kbroker.wire import ErrorCode
from kbroker.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from tests.groups.bench import Bench, subscription

ORDERS = subscription("orders")


def test_a_new_member_is_given_an_id_first():
    """KIP-394."""
    bench = Bench()

    answer = bench.answers[bench.join()]

    assert answer == JoinGroupResponse(
        error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="client-1", protocol_name=None
    )
    assert bench.state() == "Empty"


def test_before_version_4_a_new_member_is_let_in_at_once():
    bench = Bench()

    ticket = bench.join(version=3)
    bench.wait(3)

    assert bench.answers[ticket].member_id == "client-1"
    assert bench.answers[ticket].generation_id == 1


def test_the_first_member_leads_and_learns_who_is_there():
    bench = Bench()
    member_id = bench.member_id()

    ticket = bench.join(member_id)
    bench.wait(3)

    assert bench.answers[ticket] == JoinGroupResponse(
        generation_id=1,
        protocol_type="consumer",
        protocol_name="range",
        leader=member_id,
        member_id=member_id,
        members=[JoinGroupResponseMember(member_id=member_id, metadata=ORDERS)],
    )


def test_only_the_leader_learns_who_is_there():
    bench = Bench()
    first, second = bench.join(version=3), bench.join(version=3)
    bench.wait(6)

    assert len(bench.answers[first].members) == 2
    assert bench.answers[second].members == []
    assert bench.answers[second].leader == bench.answers[first].member_id


def test_in_version_0_the_session_timeout_is_also_that_of_the_rebalance():
    bench = Bench()
    bench.join(version=0, rebalance_ms=-1)
    bench.wait(3)
    bench.join(version=0, rebalance_ms=-1, session_ms=6_000)
    bench.heartbeat("client-1", 1)

    bench.wait(9.9)
    assert bench.generation() == 1
    bench.wait(0.1)
    assert bench.generation() == 2


@pytest.mark.parametrize("session_ms", [5_999, 1_800_001])
def test_a_session_timeout_out_of_bounds_is_refused(session_ms):
    bench = Bench()

    answer = bench.answers[bench.join("m", session_ms=session_ms)]

    assert (answer.error_code, answer.member_id) == (ErrorCode.INVALID_SESSION_TIMEOUT, "m")


def test_the_empty_group_id_is_refused():
    bench = Bench()

    assert bench.answers[bench.join(group="")].error_code == ErrorCode.INVALID_GROUP_ID


def test_a_member_of_a_group_that_nobody_knows_has_to_start_again():
    bench = Bench()

    assert bench.answers[bench.join("m")].error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("protocol_type", "protocols"), [("", [("range", b"")]), ("consumer", [])])
def test_a_member_without_a_protocol_is_refused_and_no_group_is_made(protocol_type, protocols):
    bench = Bench()

    ticket = bench.join(protocol_type=protocol_type, protocols=protocols)

    assert bench.answers[ticket].error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert bench.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert bench.log == []


@pytest.mark.parametrize(
    ("protocol_type", "protocols"), [("connect", [("range", b"")]), ("consumer", [("mine", b"")])]
)
def test_a_member_that_speaks_nothing_the_others_speak_is_refused(protocol_type, protocols):
    bench = Bench()
    bench.stable(1)

    ticket = bench.join(protocol_type=protocol_type, protocols=protocols)

    assert bench.answers[ticket].error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("protocol_type", ["connect", "sr"])
def test_the_protocol_type_is_the_business_of_the_members(protocol_type):
    bench = Bench()
    options = {"protocol_type": protocol_type, "protocols": [("v0", b"\xffany")]}
    ticket = bench.join(bench.member_id(**options), **options)
    bench.wait(3)

    assert bench.answers[ticket].protocol_type == protocol_type
    assert bench.answers[ticket].members[0].metadata == b"\xffany"


def test_the_protocol_that_most_members_prefer_among_those_all_speak_is_chosen():
    bench = Bench()
    for names in (["sticky", "range"], ["range", "sticky"], ["mine", "range", "sticky"]):
        ticket = bench.join(version=3, protocols=[(name, ORDERS) for name in names])
    bench.wait(10)

    assert bench.answers[ticket].protocol_name == "range"


def test_a_protocol_that_is_named_twice_counts_once():
    bench = Bench()
    bench.join(version=3, protocols=[("range", ORDERS), ("range", ORDERS)])
    ticket = bench.join(version=3, protocols=[("sticky", ORDERS), ("range", ORDERS)])
    bench.wait(10)

    assert bench.answers[ticket].protocol_name == "range"


# --- the initial delay -----------------------------------------------------------


def test_an_empty_group_waits_for_more_members():
    bench = Bench()
    ticket = bench.join(bench.member_id())

    bench.wait(2.9)
    assert ticket in bench.parked
    bench.wait(0.1)
    assert ticket in bench.answers


def test_the_delay_is_extended_while_members_come():
    bench = Bench()
    first = bench.join(version=3)
    bench.wait(2)
    bench.join(version=3)
    bench.wait(3.9)
    assert first in bench.parked
    bench.wait(0.1)

    assert len(bench.answers[first].members) == 2


def test_the_delay_is_never_longer_than_the_rebalance_timeout():
    bench = Bench()
    first = bench.join(version=3, rebalance_ms=7_000)
    for _ in range(10):
        bench.wait(0.9)
        bench.join(version=3, rebalance_ms=7_000)
        if first in bench.answers:
            break

    assert bench.now == pytest.approx(100 + 7.2)


def test_without_a_delay_the_first_member_starts_alone():
    bench = Bench(initial_rebalance_delay_ms=0)
    ticket = bench.join(version=3)
    bench.wait(0)

    assert bench.answers[ticket].generation_id == 1


def test_a_group_whose_members_all_left_during_the_delay_is_empty_again():
    bench = Bench()
    ticket = bench.join(version=3)

    bench.leave("client-1")
    assert bench.answers[ticket].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.state() == "PreparingRebalance"
    bench.wait(3)

    assert bench.state() == "Empty"
    assert bench.records()[-1].value.generation == 1


# --- joining again -----------------------------------------------------------------


def test_a_newcomer_makes_everybody_join_again():
    bench = Bench()
    (leader,) = bench.stable(1)
    newcomer = bench.join(bench.member_id())

    assert bench.heartbeat(leader, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    assert newcomer in bench.parked
    again = bench.join(leader)

    assert bench.answers[again].generation_id == bench.answers[newcomer].generation_id == 2
    assert bench.answers[newcomer].leader == leader


def test_the_leader_that_joins_again_starts_a_rebalance():
    """Only it can see that a topic has more partitions now."""
    bench = Bench()
    leader, other = bench.stable(2)

    ticket = bench.join(leader)

    assert bench.state() == "PreparingRebalance"
    bench.join(other)
    assert bench.answers[ticket].generation_id == 2


def test_another_member_that_joins_again_is_told_the_generation():
    bench = Bench()
    leader, other = bench.stable(2)

    answer = bench.answers[bench.join(other)]

    assert (answer.generation_id, answer.leader, answer.members) == (1, leader, [])
    assert bench.state() == "Stable"


def test_other_metadata_starts_a_rebalance():
    bench = Bench()
    _, other = bench.stable(2)

    bench.join(other, protocols=[("range", subscription("bills"))])

    assert bench.state() == "PreparingRebalance"


def test_a_lost_answer_is_given_again_while_the_assignment_is_awaited():
    bench = Bench()
    ticket = bench.join(version=3)
    bench.wait(3)
    again = bench.join("client-1")

    assert bench.state() == "CompletingRebalance"
    assert bench.answers[again] == bench.answers[ticket]


def test_other_metadata_while_the_assignment_is_awaited_starts_over():
    bench = Bench()
    bench.join(version=3)
    bench.wait(3)
    ticket = bench.join("client-1", protocols=[("range", subscription("bills"))])

    assert bench.answers[ticket].generation_id == 2


def test_a_join_that_is_sent_twice_is_answered_twice_but_waits_once():
    """Nobody waits for ever, not even a connection that is most likely gone."""
    bench = Bench()
    leader, other = bench.stable(2)
    first = bench.join(leader)
    second = bench.join(leader)

    assert bench.answers[first].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    bench.join(other)
    assert bench.answers[second].generation_id == 2


def test_a_member_that_nobody_knows_has_to_start_again():
    bench = Bench()
    bench.stable(1)

    answer = bench.answers[bench.join("stranger")]

    assert answer == JoinGroupResponse(
        error_code=ErrorCode.UNKNOWN_MEMBER_ID, member_id="stranger", protocol_name=None
    )


def test_before_version_7_the_protocol_of_a_refusal_is_not_null():
    bench = Bench()
    bench.stable(1)

    assert bench.answers[bench.join("stranger", version=6)].protocol_name == ""


def test_a_pending_member_that_claims_to_be_static_is_unknown():
    bench = Bench()
    member_id = bench.member_id()

    answer = bench.answers[bench.join(member_id, instance="i")]

    assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID


# --- who is missing ----------------------------------------------------------------


def test_who_does_not_join_again_is_out_when_the_rebalance_timeout_passed():
    bench = Bench()
    leader, other = bench.stable(2)
    ticket = bench.join(leader)
    for _ in range(6):
        bench.wait(9.9)
        bench.heartbeat(other, 1)
    assert ticket in bench.parked
    bench.wait(0.7)

    assert [each.member_id for each in bench.answers[ticket].members] == [leader]
    assert bench.heartbeat(other, 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_if_the_leader_is_out_another_leads():
    bench = Bench()
    leader, other = bench.stable(2)
    ticket = bench.join(other, protocols=[("range", subscription("bills"))])
    bench.wait(10)

    assert bench.answers[ticket].leader == other
    assert bench.heartbeat(leader, 1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_id_that_is_never_used_does_not_hold_up_the_group():
    """G7: the rebalance waits for a pending member, but not longer than its session."""
    bench = Bench()
    leader, _other = bench.stable(2)
    bench.member_id(session_ms=6_000)
    ticket = bench.join(leader)
    bench.join(_other)

    assert ticket in bench.parked
    bench.wait(6)
    assert bench.answers[ticket].generation_id == 2


def test_an_id_that_is_never_used_changes_nothing_in_an_empty_group():
    bench = Bench()
    bench.member_id()

    bench.wait(10)

    assert bench.state() == "Empty"


def test_a_new_member_that_never_comes_back_is_out_after_five_minutes():
    """G7: it sends no heartbeats while it waits, so its first join has a limit of its own."""
    bench = Bench()
    (leader,) = bench.stable(1, rebalance_ms=600_000)
    newcomer = bench.join(bench.member_id(), rebalance_ms=600_000)
    for _ in range(60):
        assert bench.heartbeat(leader, 1) == ErrorCode.REBALANCE_IN_PROGRESS
        bench.wait(5)

    assert bench.answers[newcomer].error_code == ErrorCode.UNKNOWN_MEMBER_ID


# --- the size of a group -----------------------------------------------------------


def test_a_full_group_takes_nobody_else():
    bench = Bench(max_size=1)
    bench.stable(1)

    answer = bench.answers[bench.join()]

    assert (answer.error_code, answer.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")


def test_the_members_of_a_full_group_may_join_again():
    bench = Bench(max_size=2)
    leader, other = bench.stable(2)

    first, again = bench.join(leader), bench.join(leader)
    second = bench.join(other)

    assert bench.answers[first].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert bench.answers[again].generation_id == bench.answers[second].generation_id == 2


def test_if_the_limit_was_lowered_the_last_to_join_again_are_out():
    bench = Bench()
    leader, other = bench.stable(2)
    bench.settings = type(bench.settings)(max_size=1)
    bench.shard.configure(bench.settings)

    ticket = bench.join(leader)
    refused = bench.join(other)

    assert bench.answers[refused].error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert [each.member_id for each in bench.answers[ticket].members] == [leader]


def test_a_group_that_is_too_big_when_it_is_loaded_rebalances():
    bench = Bench()
    bench.stable(2)
    bench.settings = type(bench.settings)(max_size=1)

    bench.restart()

    assert bench.state() == "PreparingRebalance"
