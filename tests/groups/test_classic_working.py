"""Syncs, heartbeats and sessions of classic groups."""

from kbroker.groups import encode_record
from kbroker.wire import ErrorCode
from kbroker.wire.messages.sync_group import SyncGroupResponse
from tests.groups.bench import Bench


def completing(bench: Bench) -> tuple[str, str]:
    """Two members that know their generation, and nothing else yet; the first one leads."""
    bench.join(version=3)
    bench.join(version=3)
    bench.wait(6)
    assert bench.state() == "CompletingRebalance"
    return "client-1", "client-2"


def test_everybody_waits_for_the_leaders_assignment():
    bench = Bench()
    leader, other = completing(bench)
    waiting = bench.sync(other, 1)
    assert waiting in bench.parked

    own = bench.sync(leader, 1, {leader: b"one", other: b"two"})

    assert bench.answers[waiting] == SyncGroupResponse(
        protocol_type="consumer", protocol_name="range", assignment=b"two"
    )
    assert bench.answers[own].assignment == b"one"
    assert bench.state() == "Stable"


def test_the_assignment_is_written_before_anybody_knows_it():
    bench = Bench()
    leader, other = completing(bench)

    bench.sync(leader, 1, {leader: b"one", other: b"two"})

    value = bench.records()[-1].value
    assert (value.generation, value.leader, value.protocol) == (1, leader, "range")
    assert {m.member_id: m.assignment for m in value.members} == {leader: b"one", other: b"two"}
    assert bench.records()[-1].value_version == 3


def test_who_syncs_after_the_leader_is_answered_at_once():
    bench = Bench()
    leader, other = completing(bench)
    bench.sync(leader, 1, {leader: b"one", other: b"two"})

    assert bench.answers[bench.sync(other, 1)].assignment == b"two"


def test_a_member_that_the_leader_forgot_gets_nothing():
    bench = Bench()
    leader, other = completing(bench)
    bench.sync(leader, 1, {leader: b"one", "stranger": b"two"})

    assert bench.answers[bench.sync(other, 1)].assignment == b""


def test_a_sync_that_is_sent_twice_waits_once():
    bench = Bench()
    leader, other = completing(bench)
    first, second = bench.sync(other, 1), bench.sync(other, 1)

    assert bench.answers[first].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    bench.sync(leader, 1, {other: b"two"})
    assert bench.answers[second].assignment == b"two"


def test_a_join_while_the_assignment_is_awaited_sends_everybody_back():
    bench = Bench()
    _, other = completing(bench)
    waiting = bench.sync(other, 1)

    bench.join(version=3)

    assert bench.answers[waiting].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    answer = bench.answers[bench.sync(other, 1)]
    assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_sync_of_another_generation_is_refused():
    """G5."""
    bench = Bench()
    leader, _ = completing(bench)

    assert bench.answers[bench.sync(leader, 2)].error_code == ErrorCode.ILLEGAL_GENERATION


def test_a_sync_of_a_stranger_is_refused():
    bench = Bench()
    assert bench.answers[bench.sync("m", 1)].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    completing(bench)
    assert bench.answers[bench.sync("m", 1)].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.answers[bench.sync("m", 1, group="")].error_code == ErrorCode.INVALID_GROUP_ID


def test_a_sync_that_names_another_protocol_is_refused():
    """KIP-559."""
    bench = Bench()
    leader, _ = completing(bench)
    inconsistent = ErrorCode.INCONSISTENT_GROUP_PROTOCOL

    by_type = bench.sync(leader, 1, protocol_type="connect")
    by_name = bench.sync(leader, 1, protocol_name="sticky")
    no_name = bench.sync(leader, 1, protocol_name=None)
    no_type = bench.sync(leader, 1, protocol_type=None)

    for ticket in (by_type, by_name, no_name, no_type):
        assert bench.answers[ticket].error_code == inconsistent


def test_before_version_5_a_sync_names_no_protocol():
    bench = Bench()
    leader, _ = completing(bench)

    ticket = bench.sync(leader, 1, version=4, protocol_type=None, protocol_name=None)

    assert bench.answers[ticket].error_code == ErrorCode.NONE


def test_who_never_syncs_is_out_after_the_rebalance_timeout():
    """KAFKA-9752: heartbeats alone do not keep a member whose assignment nobody reads."""
    bench = Bench()
    leader, other = completing(bench)
    bench.sync(leader, 1, {leader: b"one", other: b"two"})
    for _ in range(7):
        bench.wait(8.5)
        bench.heartbeat(leader, 1)
        bench.heartbeat(other, 1)
    assert bench.state() == "Stable"
    bench.wait(0.5)

    assert bench.heartbeat(other, 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.heartbeat(leader, 1) == ErrorCode.REBALANCE_IN_PROGRESS


def test_if_the_leader_never_syncs_another_leads():
    bench = Bench()
    leader, other = completing(bench)
    waiting = bench.sync(other, 1)
    for _ in range(7):
        bench.heartbeat(leader, 1)
        bench.wait(9)

    assert bench.answers[waiting].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert bench.answers[bench.join(other)].leader == other


# --- heartbeats and sessions -------------------------------------------------------


def test_a_heartbeat_is_answered_in_every_state():
    bench = Bench()
    assert bench.heartbeat("m", 1, group="") == ErrorCode.INVALID_GROUP_ID
    assert bench.heartbeat("m", 1) == ErrorCode.UNKNOWN_MEMBER_ID
    pending = bench.member_id()
    assert bench.heartbeat(pending, 0) == ErrorCode.UNKNOWN_MEMBER_ID
    bench.leave(pending)
    bench.join(version=3)
    bench.wait(3)
    assert bench.heartbeat("client-2", 1) == ErrorCode.NONE
    bench.sync("client-2", 1, {})
    assert bench.heartbeat("client-2", 1) == ErrorCode.NONE
    assert bench.heartbeat("client-2", 2) == ErrorCode.ILLEGAL_GENERATION
    bench.join(version=3)
    assert bench.heartbeat("client-2", 1) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_silent_member_is_out_when_its_session_ran_out():
    bench = Bench()
    leader, other = bench.stable(2)
    bench.heartbeat(leader, 1)
    bench.heartbeat(other, 1)
    bench.wait(5)
    bench.heartbeat(other, 1)
    bench.wait(5)

    assert bench.heartbeat(leader, 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert bench.heartbeat(other, 1) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_group_whose_last_member_fell_silent_is_empty_and_that_is_written():
    bench = Bench()
    bench.stable(1)

    bench.wait(10)

    value = bench.records()[-1].value
    assert bench.state() == "Empty"
    assert (value.generation, value.protocol, value.leader, value.members) == (2, None, None, [])
    assert value.protocol_type == "consumer"


def test_a_member_that_waits_for_us_need_not_send_heartbeats():
    bench = Bench()
    leader, other = bench.stable(2)
    ticket = bench.join(leader)
    for _ in range(5):
        bench.wait(9)
        assert bench.heartbeat(other, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    bench.join(other)

    assert bench.answers[ticket].error_code == ErrorCode.NONE
    waiting = bench.sync(other, 2)
    bench.wait(9)
    bench.heartbeat(leader, 2)
    bench.wait(9)
    bench.sync(leader, 2, {other: b"x"})
    assert bench.answers[waiting].assignment == b"x"


def test_if_a_member_is_lost_while_it_is_waited_for_the_others_go_on():
    bench = Bench()
    leader, _other = bench.stable(2)
    ticket = bench.join(leader)

    bench.wait(10)

    assert bench.answers[ticket].generation_id == 2


def test_a_commit_is_a_sign_of_life():
    bench = Bench()
    (leader,) = bench.stable(1)
    for _ in range(4):
        bench.wait(6)
        assert bench.commit({("orders", 0): 1}, member_id=leader, generation=1) == ErrorCode.NONE

    assert bench.state() == "Stable"


# --- failover ----------------------------------------------------------------------


def test_a_stable_group_goes_on_after_a_failover():
    """G9."""
    bench = Bench()
    leader, other = bench.stable(2)
    before = bench.describe()

    bench.restart()

    assert bench.describe() == before
    assert bench.heartbeat(leader, 1) == ErrorCode.NONE
    assert bench.answers[bench.sync(other, 1)].assignment == other.encode()


def test_after_a_failover_the_silent_are_out_as_ever():
    bench = Bench()
    bench.stable(2)
    bench.restart()

    bench.wait(10)

    assert bench.state() == "Empty"


def test_generations_go_on_growing_after_a_failover():
    bench = Bench()
    (leader,) = bench.stable(1)
    bench.join(leader)
    bench.sync(leader, 2, {})
    bench.restart()

    assert bench.answers[bench.join(leader)].generation_id == 3


def test_a_group_whose_record_names_a_leader_that_is_gone_has_another():
    """What an old version wrote may not fit together; the group is repaired when it is loaded."""
    bench = Bench()
    (leader,) = bench.stable(1)
    record = bench.records()[-1]
    record.value.leader = "stranger"
    record.value.current_state_timestamp = -1
    record.value.members[0].rebalance_timeout = -1
    bench.log[-1] = encode_record(record)

    bench.restart()
    ticket = bench.join(leader, protocols=[("range", b"\0\0\0\0\0\0")])

    assert bench.answers[ticket].leader == leader


def test_the_record_of_an_empty_group_may_still_name_a_leader():
    """Whoever joins first leads, not somebody who is long gone."""
    bench = Bench()
    (leader,) = bench.stable(1)
    bench.leave(leader)
    record = bench.records()[-1]
    record.value.leader = leader
    bench.log[-1] = encode_record(record)
    bench.restart()

    ticket = bench.join(version=3, client="next")
    bench.wait(3)

    assert bench.answers[ticket].leader.startswith("next")
