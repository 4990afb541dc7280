"""Static members (KIP-345): a process that comes back takes its old place."""

import pytest

from kbroker.wire import ErrorCode
from kbroker.wire.messages.leave_group import MemberIdentity
from tests.groups.bench import Bench, subscription


def stable_with_static(bench: Bench) -> tuple[str, str]:
    """A static leader with the instance id "i", and a dynamic member."""
    bench.join(instance="i")
    bench.join(version=3)
    bench.wait(6)
    bench.sync("client-2", 1)
    bench.sync("i-1", 1, {"i-1": b"one", "client-2": b"two"}, instance="i")
    assert bench.state() == "Stable"
    return "i-1", "client-2"


def test_a_static_member_needs_no_id_first():
    bench = Bench()
    ticket = bench.join(instance="i")
    bench.wait(3)

    assert bench.answers[ticket].member_id == "i-1"
    assert bench.answers[ticket].members[0].group_instance_id == "i"


def test_in_a_stable_group_nobody_notices_a_restart():
    """G6: the new id is in the log before the answer leaves."""
    bench = Bench()
    _, other = stable_with_static(bench)
    written = len(bench.log)

    answer = bench.answers[bench.join(instance="i")]

    assert (answer.member_id, answer.generation_id) == ("i-3", 1)
    assert bench.state() == "Stable"
    assert bench.heartbeat(other, 1) == ErrorCode.NONE
    (record,) = bench.records()[written:]
    assert {m.member_id: m.assignment for m in record.value.members} == {
        "i-3": b"one",
        other: b"two",
    }
    assert bench.answers[bench.sync("i-3", 1, instance="i")].assignment == b"one"


def test_the_new_process_survives_a_failover():
    """G6."""
    bench = Bench()
    stable_with_static(bench)
    bench.join(instance="i")

    bench.restart()

    assert bench.heartbeat("i-3", 1, instance="i") == ErrorCode.NONE
    assert bench.heartbeat("i-1", 1, instance="i") == ErrorCode.FENCED_INSTANCE_ID


def test_a_leader_that_restarts_is_told_not_to_assign():
    """KIP-814."""
    bench = Bench()
    stable_with_static(bench)

    answer = bench.answers[bench.join(instance="i", version=9)]

    assert answer.skip_assignment
    assert answer.leader == "i-3"
    assert len(answer.members) == 2


def test_an_old_leader_that_restarts_does_not_find_itself_leading():
    bench = Bench()
    stable_with_static(bench)

    answer = bench.answers[bench.join(instance="i", version=8)]

    assert (answer.leader, answer.members, answer.skip_assignment) == ("i-1", [], False)


def test_a_restart_that_changes_the_protocol_makes_everybody_join_again():
    bench = Bench()
    both = [("range", subscription("orders")), ("sticky", subscription("orders"))]
    bench.join(instance="i", protocols=both)
    bench.wait(3)
    bench.sync("i-1", 1, {"i-1": b"one"}, instance="i")

    ticket = bench.join(instance="i", protocols=both[::-1])

    assert bench.answers[ticket].generation_id == 2
    assert bench.answers[ticket].protocol_name == "sticky"


def test_the_old_process_is_fenced():
    """G5."""
    bench = Bench()
    stable_with_static(bench)
    bench.join(instance="i")

    assert bench.heartbeat("i-1", 1, instance="i") == ErrorCode.FENCED_INSTANCE_ID
    fenced = bench.answers[bench.sync("i-1", 1, instance="i")]
    assert fenced.error_code == ErrorCode.FENCED_INSTANCE_ID
    rejoined = bench.answers[bench.join("i-1", instance="i")]
    assert rejoined.error_code == ErrorCode.FENCED_INSTANCE_ID
    committed = bench.commit({("orders", 0): 1}, member_id="i-1", generation=1, instance="i")
    assert committed == ErrorCode.FENCED_INSTANCE_ID


def test_an_instance_that_nobody_knows_is_an_unknown_member():
    bench = Bench()
    stable_with_static(bench)

    assert bench.heartbeat("i-1", 1, instance="j") == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(("version", "name"), [(6, ""), (9, None)])
def test_while_members_gather_a_parked_join_of_the_old_process_is_fenced(version, name):
    """G6."""
    bench = Bench()
    old = bench.join(instance="i", version=version)
    new = bench.join(instance="i")

    assert bench.answers[old].error_code == ErrorCode.FENCED_INSTANCE_ID
    assert (bench.answers[old].member_id, bench.answers[old].protocol_name) == ("i-1", name)
    bench.wait(6)
    assert bench.answers[new].member_id == "i-2"
    assert bench.answers[new].leader == "i-2"


def test_while_the_assignment_is_awaited_a_restart_starts_over():
    """G6: the leader may be assigning to the old id this very moment."""
    bench = Bench()
    bench.join(version=3)
    bench.join(instance="i")
    bench.wait(6)
    old = bench.sync("i-2", 1, instance="i")

    new = bench.join(instance="i")

    assert bench.answers[old].error_code == ErrorCode.FENCED_INSTANCE_ID
    assert bench.state() == "PreparingRebalance"
    bench.join("client-1")
    assert (bench.answers[new].member_id, bench.answers[new].generation_id) == ("i-3", 2)


def test_a_static_member_stays_through_a_rebalance_it_misses():
    bench = Bench()
    static, other = stable_with_static(bench)
    ticket = bench.join(other, protocols=[("range", subscription("bills"))])
    for _ in range(7):
        bench.wait(9)
        bench.heartbeat(static, 1, instance="i")

    assert bench.answers[ticket].leader == other
    assert {each.member_id for each in bench.answers[ticket].members} == {static, other}


def test_if_only_static_members_are_left_and_none_joins_their_sessions_decide():
    bench = Bench()
    static, other = stable_with_static(bench)
    bench.leave(other)
    assert bench.state() == "PreparingRebalance"
    for _ in range(10):
        bench.wait(9)
        bench.heartbeat(static, 1, instance="i")
    assert bench.state() == "PreparingRebalance"

    bench.wait(10)

    assert bench.state() == "Empty"


def test_a_restart_that_did_not_ask_for_its_assignment_yet_is_still_waited_for():
    bench = Bench()
    bench.join(version=3)
    bench.join(instance="i")
    bench.wait(6)
    bench.sync("client-1", 1, {"client-1": b"one", "i-2": b"two"})
    bench.join(instance="i")
    for _ in range(7):
        bench.wait(9)
        bench.heartbeat("client-1", 1)
        bench.heartbeat("i-3", 1, instance="i")

    assert bench.heartbeat("i-3", 1, instance="i") == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_administrator_sends_a_static_member_away_by_its_instance_id():
    bench = Bench()
    static, _ = stable_with_static(bench)

    answer = bench.leave(MemberIdentity(member_id="", group_instance_id="i"))

    assert [each.error_code for each in answer.members] == [ErrorCode.NONE]
    assert bench.heartbeat(static, 1, instance="i") == ErrorCode.UNKNOWN_MEMBER_ID
