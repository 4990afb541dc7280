"""Committing, fetching, deleting and expiring offsets."""

import pytest

from kbroker.wire import ErrorCode
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey
from kbroker.wire.messages.offset_commit_record import OffsetCommitKey
from kbroker.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from kbroker.wire.messages.offset_fetch import (
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from tests.groups.bench import Bench, Topics, subscription, topic_id

ORDERS_0 = ("orders", 0)
BILLS_0 = ("bills", 0)
WEEK_S = 7 * 24 * 3600


def delete(bench: Bench, topic: str, partition: int = 0, group: str = "g"):
    ticket = bench.ticket()
    request = OffsetDeleteRequest(
        group_id=group,
        topics=[
            OffsetDeleteRequestTopic(
                name=topic,
                partitions=[OffsetDeleteRequestPartition(partition_index=partition)],
            )
        ],
    )
    bench.carry_out(bench.shard.offset_delete(request, ticket))
    answer = bench.answers[ticket]
    return answer.error_code or answer.topics[0].partitions[0].error_code


# --- committing --------------------------------------------------------------------


def test_what_is_committed_is_fetched():
    bench = Bench()
    (leader,) = bench.stable(1)

    code = bench.commit(
        {ORDERS_0: 7}, member_id=leader, generation=1, metadata="here", leader_epoch=3
    )

    assert code == ErrorCode.NONE
    assert bench.fetch(ORDERS_0) == OffsetFetchResponseGroup(
        group_id="g",
        topics=[
            OffsetFetchResponseTopics(
                name="orders",
                partitions=[
                    OffsetFetchResponsePartitions(
                        committed_offset=7, committed_leader_epoch=3, metadata="here"
                    )
                ],
            )
        ],
    )


def test_a_commit_is_written_as_kafka_4_3_writes_it():
    bench = Bench()
    bench.commit({ORDERS_0: 7}, metadata=None, with_ids=True, version=10)

    (record,) = bench.records()
    assert record.key == OffsetCommitKey(group="g", topic="orders", partition=0)
    assert record.value_version == 4
    assert record.value.topic_id == topic_id("orders")
    assert record.value.metadata == ""
    assert record.value.commit_timestamp == bench.now_ms


def test_an_old_client_that_says_how_long_its_offsets_live_is_obeyed():
    bench = Bench()
    bench.commit({ORDERS_0: 7}, version=4, retention_ms=3_600_000)

    (record,) = bench.records()
    assert record.value_version == 1
    assert record.value.expire_timestamp == bench.now_ms + 3_600_000
    bench.wait(3_599)
    assert bench.fetched() == {ORDERS_0: 7}
    bench.wait(601)
    assert bench.fetched() == {}


def test_a_consumer_that_is_no_member_commits_to_a_group_that_has_none():
    """Generation -1 and no member id: kcat, Flink, Spark, administrators."""
    bench = Bench()

    assert bench.commit({ORDERS_0: 7}) == ErrorCode.NONE
    assert bench.state() == "Empty"
    assert bench.describe().protocol_type == ""
    bench.member_id()
    assert bench.commit({ORDERS_0: 8}) == ErrorCode.NONE
    assert bench.fetched() == {ORDERS_0: 8}


def test_while_there_are_members_only_they_commit():
    """G5."""
    bench = Bench()
    (leader,) = bench.stable(1)

    assert bench.commit({ORDERS_0: 1}) == ErrorCode.UNKNOWN_MEMBER_ID
    stranger = bench.commit({ORDERS_0: 1}, member_id="m", generation=1)
    assert stranger == ErrorCode.UNKNOWN_MEMBER_ID
    zombie = bench.commit({ORDERS_0: 1}, member_id=leader, generation=0)
    assert zombie == ErrorCode.ILLEGAL_GENERATION
    assert bench.fetched() == {}


def test_a_member_of_a_group_that_became_empty_cannot_commit():
    bench = Bench()
    (leader,) = bench.stable(1)
    bench.leave(leader)

    code = bench.commit({ORDERS_0: 1}, member_id=leader, generation=1)

    assert code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("version", "error"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_a_commit_of_a_member_to_a_group_that_nobody_knows_is_refused(version, error):
    bench = Bench()

    assert bench.commit({ORDERS_0: 1}, member_id="m", generation=1, version=version) == error


def test_members_commit_while_they_gather_but_not_before_they_know_their_partitions():
    bench = Bench()
    leader, other = bench.stable(2)
    bench.join(leader)
    assert bench.commit({ORDERS_0: 1}, member_id=other, generation=1) == ErrorCode.NONE
    bench.join(other)

    code = bench.commit({ORDERS_0: 2}, member_id=other, generation=2)

    assert code == ErrorCode.REBALANCE_IN_PROGRESS
    assert bench.fetched() == {ORDERS_0: 1}


def test_too_much_metadata_is_refused():
    bench = Bench(offset_metadata_max_bytes=4)

    assert bench.commit({ORDERS_0: 1}, metadata="12345") == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert bench.commit({ORDERS_0: 1}, metadata="1234") == ErrorCode.NONE


# --- fetching ----------------------------------------------------------------------


def test_what_was_never_committed_is_minus_one():
    bench = Bench()

    (topic,) = bench.fetch(ORDERS_0).topics

    assert topic.partitions == [
        OffsetFetchResponsePartitions(committed_offset=-1, committed_leader_epoch=-1, metadata="")
    ]


def test_all_offsets_of_a_group_can_be_asked_for():
    bench = Bench()
    bench.commit({ORDERS_0: 1, ("orders", 3): 2, BILLS_0: 3})
    bench.commit({ORDERS_0: 9}, group="other")

    assert bench.fetched() == {ORDERS_0: 1, ("orders", 3): 2, BILLS_0: 3}
    assert bench.fetched(group="nobody") == {}


def test_the_offset_of_a_topic_that_was_deleted_and_made_anew_is_not_found():
    bench = Bench()
    bench.commit({ORDERS_0: 1}, with_ids=True, version=10)
    stored = bench.records()[-1]
    stored.value.topic_id = topic_id("before")
    bench.shard.replay(stored)

    (topic,) = bench.fetch(ORDERS_0, with_ids=True).topics
    assert (topic.topic_id, topic.partitions[0].committed_offset) == (topic_id("orders"), -1)
    assert bench.fetched(ORDERS_0) == {ORDERS_0: 1}


def test_offsets_survive_a_failover():
    """G9."""
    bench = Bench()
    (leader,) = bench.stable(1)
    bench.commit({ORDERS_0: 7, BILLS_0: 8}, member_id=leader, generation=1)
    bench.commit({ORDERS_0: 9}, member_id=leader, generation=1)

    bench.restart()

    assert bench.fetched() == {ORDERS_0: 9, BILLS_0: 8}


# --- deleting ----------------------------------------------------------------------


def test_offsets_of_topics_that_are_read_are_not_deleted():
    bench = Bench()
    bench.commit({ORDERS_0: 1, BILLS_0: 2})
    bench.stable(1)

    assert delete(bench, "orders") == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert delete(bench, "bills") == ErrorCode.NONE
    assert bench.fetched() == {ORDERS_0: 1}


def test_if_the_members_are_no_consumers_nothing_is_deleted():
    bench = Bench()
    bench.commit({ORDERS_0: 1})
    bench.join(version=3, protocol_type="connect", protocols=[("v0", b"")])

    assert delete(bench, "orders") == ErrorCode.NON_EMPTY_GROUP


def test_if_nobody_can_tell_what_consumers_read_nothing_is_deleted():
    bench = Bench()
    bench.commit({ORDERS_0: 1})
    bench.join(version=3, protocols=[("range", b"\0")])
    bench.wait(3)

    assert delete(bench, "orders") == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_deleting_what_is_not_there_writes_nothing():
    bench = Bench()
    bench.commit({ORDERS_0: 1})
    written = len(bench.log)

    assert delete(bench, "orders", partition=3) == ErrorCode.NONE
    assert len(bench.log) == written
    assert delete(bench, "orders", group="nobody") == ErrorCode.GROUP_ID_NOT_FOUND
    assert delete(bench, "orders", group="") == ErrorCode.INVALID_GROUP_ID


def test_deleting_one_offset_leaves_the_others():
    bench = Bench()
    bench.commit({ORDERS_0: 1, ("orders", 1): 2, BILLS_0: 3})

    assert delete(bench, "orders") == ErrorCode.NONE
    assert bench.fetched() == {("orders", 1): 2, BILLS_0: 3}
    assert delete(bench, "orders", partition=1) == ErrorCode.NONE
    assert bench.fetched() == {BILLS_0: 3}


def test_the_offsets_of_a_deleted_topic_go():
    bench = Bench()
    bench.commit({ORDERS_0: 1, BILLS_0: 2})
    bench.commit({ORDERS_0: 1}, group="other")

    bench.carry_out(bench.shard.on_topics_deleted({"orders"}))

    assert bench.fetched() == {BILLS_0: 2}
    assert bench.fetched(group="other") == {}


# --- expiring ----------------------------------------------------------------------


def test_offsets_go_a_week_after_the_group_became_empty():
    """KIP-211: not a week after the commit."""
    bench = Bench()
    (leader,) = bench.stable(1, session_ms=1_000_000)
    bench.commit({ORDERS_0: 1}, member_id=leader, generation=1)
    bench.wait(500_000 / 1000)
    bench.leave(leader)

    bench.wait(WEEK_S - 1)
    assert bench.fetched() == {ORDERS_0: 1}
    bench.wait(601)

    assert bench.fetched() == {}
    assert bench.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert [record.value for record in bench.records()[-2:]] == [None, None]
    assert bench.records()[-1].key == GroupMetadataKey(group="g")


def test_a_failover_does_not_make_offsets_live_longer():
    bench = Bench()
    (leader,) = bench.stable(1)
    bench.commit({ORDERS_0: 1}, member_id=leader, generation=1)
    bench.leave(leader)
    bench.wait(WEEK_S - 1)

    bench.restart()
    bench.wait(601)

    assert bench.fetched() == {}


@pytest.mark.parametrize(("retention_ms", "left"), [(600_000, {}), (600_001, {ORDERS_0: 1})])
def test_offsets_go_when_their_time_is_up_and_not_a_moment_earlier(retention_ms, left):
    bench = Bench(offsets_retention_ms=retention_ms)
    bench.commit({ORDERS_0: 1})

    bench.wait(600)

    assert bench.fetched() == left


def test_offsets_of_a_simple_group_go_a_week_after_their_commit():
    bench = Bench()
    bench.commit({ORDERS_0: 1})
    bench.wait(WEEK_S / 2)
    bench.commit({BILLS_0: 1})
    bench.wait(WEEK_S / 2 + 600)

    assert bench.fetched() == {BILLS_0: 1}
    assert bench.state() == "Empty"


def keep_alive(bench: Bench, member_id: str, seconds: float) -> None:
    for _ in range(int(seconds // 1_000) + 1):
        assert bench.heartbeat(member_id, 1) == ErrorCode.NONE
        bench.wait(1_000)


def test_offsets_do_not_go_while_somebody_reads_them():
    """G3."""
    bench = Bench(offsets_retention_ms=3_600_000)
    options = {"session_ms": 1_800_000}
    (leader,) = bench.stable(1, **options)
    bench.commit({ORDERS_0: 1, BILLS_0: 2}, member_id=leader, generation=1)

    keep_alive(bench, leader, 7_200)

    assert bench.fetched() == {ORDERS_0: 1}, "nobody subscribes to bills"


def test_offsets_do_not_go_while_the_group_rebalances():
    """G3."""
    bench = Bench(offsets_retention_ms=60_000)
    options = {"session_ms": 1_800_000, "rebalance_ms": 1_500_000}
    leader, _other = bench.stable(2, **options)
    bench.commit({BILLS_0: 2}, member_id=leader, generation=1)
    bench.join(leader, **options)

    bench.wait(1_200)

    assert bench.state() == "PreparingRebalance"
    assert bench.fetched() == {BILLS_0: 2}


def test_offsets_of_consumers_that_nobody_understands_do_not_go():
    bench = Bench(offsets_retention_ms=60_000)
    options = {"session_ms": 1_800_000, "protocols": [("range", b"\0")]}
    (leader,) = bench.stable(1, **options)
    bench.commit({BILLS_0: 2}, member_id=leader, generation=1)

    keep_alive(bench, leader, 1_500)

    assert bench.fetched() == {BILLS_0: 2}


def test_an_old_group_record_does_not_tell_when_the_group_became_empty():
    bench = Bench()
    (leader,) = bench.stable(1)
    bench.commit({ORDERS_0: 1}, member_id=leader, generation=1)
    bench.leave(leader)
    record = bench.records()[-1]
    record.value.current_state_timestamp = -1
    bench.shard._classic._is_loading = True
    bench.shard.replay(record)
    bench.shard._classic._is_loading = False

    bench.wait(WEEK_S + 600)

    assert bench.fetched() == {}


def test_a_group_with_nothing_left_goes_but_not_while_somebody_is_about_to_join():
    bench = Bench()
    bench.member_id(session_ms=1_000_000)
    bench.wait(601)
    assert bench.state() == "Empty"

    bench.wait(1_200)
    assert bench.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_group_that_became_empty_this_moment_keeps_its_offsets():
    """G3: the last session ends at the very moment at which expired offsets are looked for."""
    bench = Bench(Topics(orders=1), offsets_retention_ms=60_000)
    start = bench.now
    (leader,) = bench.stable(1, session_ms=600_000)
    bench.commit({ORDERS_0: 1}, member_id=leader, generation=1)
    bench.now = start
    bench.heartbeat(leader, 1)

    bench.wait(600)

    assert bench.state() == "Empty"
    assert bench.fetched() == {ORDERS_0: 1}


def test_what_members_subscribe_to_is_read_from_the_start_of_their_metadata():
    bench = Bench()
    bench.stable(1, protocols=[("range", subscription("bills", "orders", version=3) + b"more")])
    bench.commit({BILLS_0: 1}, group="other")

    assert delete(bench, "bills") == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert delete(bench, "bills", group="other") == ErrorCode.NONE
