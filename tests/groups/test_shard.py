"""What a shard does for groups of any kind."""

from math import inf

import pytest

from kbroker.groups import GroupRecord, encode_record
from kbroker.groups.group_records import tombstone
from kbroker.machine import Outcome
from kbroker.wire import ErrorCode
from kbroker.wire.messages.delete_groups import DeletableGroupResult
from kbroker.wire.messages.describe_groups import DescribedGroup
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kbroker.wire.messages.legacy_offset_commit_record import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
)
from kbroker.wire.messages.list_groups import ListedGroup
from tests.groups.bench import Bench, subscription

ORDERS_0 = ("orders", 0)


def delete_group(bench: Bench, group: str = "g"):
    ticket = bench.ticket()
    bench.carry_out(bench.shard.delete_group(group, ticket))
    return bench.answers[ticket]


def test_a_stable_group_is_described_with_its_protocol():
    bench = Bench()
    (leader,) = bench.stable(1)

    described = bench.describe()

    assert (described.group_state, described.protocol_type) == ("Stable", "consumer")
    assert described.protocol_data == "range"
    (member,) = described.members
    assert (member.member_id, member.client_id, member.client_host) == (
        leader,
        "client",
        "/127.0.0.1",
    )
    assert member.member_metadata == subscription("orders")
    assert member.member_assignment == leader.encode()


def test_whoever_takes_a_group_for_a_consumer_group_is_told_what_it_is_not():
    bench = Bench()
    bench.stable(1)

    told = {
        name: bench.shard.consumer_group_describe(name).error_message for name in ("g", "nowhere")
    }

    assert told["g"] == "Group g is not a consumer group."
    assert told["nowhere"] == "Group nowhere not found."


def test_a_group_that_rebalances_is_described_without_a_protocol():
    bench = Bench()
    (leader,) = bench.stable(1)
    bench.member_id()
    bench.join(leader)

    described = bench.describe()

    assert (described.group_state, described.protocol_data) == ("PreparingRebalance", "")
    assert [each.member_metadata for each in described.members] == [b""]


@pytest.mark.parametrize(
    ("version", "error", "message"),
    [(5, ErrorCode.NONE, None), (6, ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found.")],
)
def test_a_group_that_nobody_knows_is_dead(version, error, message):
    """KIP-1043: from version 6 on it is an error too."""
    assert Bench().describe(version=version) == DescribedGroup(
        group_id="g", group_state="Dead", error_code=error, error_message=message
    )


def test_groups_are_listed_by_state_and_type():
    bench = Bench()
    bench.stable(1)
    bench.commit({ORDERS_0: 1}, group="simple")
    stable = ListedGroup(
        group_id="g", protocol_type="consumer", group_state="Stable", group_type="classic"
    )
    simple = ListedGroup(group_id="simple", group_state="Empty", group_type="classic")
    shard = bench.shard

    assert shard.list_groups([], []) == [stable, simple]
    assert shard.list_groups([" STABLE "], ["Classic"]) == [stable]
    assert shard.list_groups(["empty", "dead"], []) == [simple]
    assert shard.list_groups([], ["consumer", "whatever"]) == []
    assert shard.list_groups(["PreparingRebalance"], []) == []


def test_an_empty_group_is_deleted_with_its_offsets():
    bench = Bench()
    (leader,) = bench.stable(1)
    bench.commit({ORDERS_0: 1}, member_id=leader, generation=1)
    bench.leave(leader)

    assert delete_group(bench) == DeletableGroupResult(group_id="g")
    assert bench.fetched() == {}
    assert bench.state() == "Dead"
    bench.restart()
    assert bench.state() == "Dead"


def test_a_group_with_members_is_not_deleted():
    bench = Bench()
    bench.stable(1)

    assert delete_group(bench).error_code == ErrorCode.NON_EMPTY_GROUP
    assert bench.state() == "Stable"


def test_a_group_that_nobody_knows_is_not_deleted():
    assert delete_group(Bench()).error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_nothing_that_is_deleted_is_waited_for():
    bench = Bench()
    bench.member_id()

    delete_group(bench)

    assert bench.shard.next_deadline() == bench.now + 600


def test_a_shard_that_is_not_loaded_waits_for_nothing():
    bench = Bench()
    fresh = type(bench.shard)(bench.settings, bench.topics)

    assert fresh.next_deadline() is None
    assert fresh.on_time(inf, 0).records == ()


def test_commits_of_kafka_0_8_are_understood():
    bench = Bench()
    key = LegacyOffsetCommitKey(group="g", topic="orders", partition=0)

    value = LegacyOffsetCommitValue(offset=5, metadata="m", commit_timestamp=bench.now_ms)
    bench.shard.replay(GroupRecord(key, value))
    assert bench.fetched() == {ORDERS_0: 5}
    bench.shard.replay(tombstone(key))
    assert bench.fetched() == {}


def test_the_end_of_a_group_that_nobody_knows_is_nothing():
    bench = Bench()

    bench.shard.replay(tombstone(GroupMetadataKey(group="g")))

    assert bench.state() == "Dead"


def test_offsets_that_outlived_their_group_in_the_log_have_a_group_again():
    """G2: what compaction left need not make sense record by record."""
    bench = Bench()
    bench.commit({ORDERS_0: 1})
    bench.carry_out(Outcome(records=(tombstone(GroupMetadataKey(group="g")),)))

    bench.restart()

    assert bench.state() == "Empty"
    assert bench.fetched() == {ORDERS_0: 1}


def test_the_last_record_of_a_group_counts():
    bench = Bench()
    bench.stable(1)
    value = GroupMetadataValue(protocol_type="consumer", generation=9, protocol=None, leader=None)
    bench.log.append(encode_record(GroupRecord(GroupMetadataKey(group="g"), value, 3)))

    bench.restart()

    assert bench.state() == "Empty"


def test_a_group_that_comes_back_from_the_consumer_protocol_rebalances_at_the_next_tick():
    bench = Bench()
    (leader,) = bench.stable(1)
    record = bench.records()[-1]
    bench.shard.replay(tombstone(GroupMetadataKey(group="g")))
    bench.shard.replay(record)

    assert bench.shard.next_deadline() == -inf
    bench.wait(0)

    assert bench.state() == "PreparingRebalance"
    assert bench.answers[bench.join(leader)].generation_id == 2


@pytest.mark.parametrize("meanwhile", ["joined", "deleted"])
def test_a_group_that_comes_back_but_did_not_wait_for_the_tick(meanwhile):
    bench = Bench()
    leader, _other = bench.stable(2)
    record = bench.records()[-1]
    bench.shard.replay(tombstone(GroupMetadataKey(group="g")))
    bench.shard.replay(record)
    if meanwhile == "joined":
        ticket = bench.join(leader)
        bench.wait(0)
        assert bench.state() == "PreparingRebalance"
        bench.wait(10)
        assert bench.answers[ticket].generation_id == 2
    else:
        bench.shard.replay(tombstone(GroupMetadataKey(group="g")))
        bench.wait(0)
        assert bench.state() == "Dead"


def test_a_group_that_is_retired_lets_its_members_go():
    bench = Bench()
    leader, other = bench.stable(2)
    join = bench.join(leader)

    bench.carry_out(bench.shard._classic.retire("g"))

    assert bench.answers[join].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert bench.state() == "Dead"
    assert bench.heartbeat(other, 1) == ErrorCode.UNKNOWN_MEMBER_ID
