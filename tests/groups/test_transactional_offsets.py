"""Offsets that producers commit inside their transactions: who may, and when they count."""

import pytest

from kbroker.groups import GroupRecord
from kbroker.wire import ErrorCode
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey
from kbroker.wire.messages.offset_commit_record import OffsetCommitKey
from tests.groups.bench import Bench, topic_id
from tests.groups.test_offsets import BILLS_0, ORDERS_0, delete

ORDERS_1 = ("orders", 1)
# Two producers with open transactions.
ONE, OTHER = 1_000, 1_001


def unstable(bench: Bench, *partitions: tuple[str, int]) -> set[tuple[str, int]]:
    """Which partitions a reader that cares is told to ask again for."""
    return {
        (topic.name, each.partition_index)
        for topic in bench.fetch(*partitions).topics
        for each in topic.partitions
        if each.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    }


def careless(bench: Bench) -> dict[tuple[str, int], int]:
    """What a reader is told that does not mind open transactions."""
    return {
        (topic.name, each.partition_index): each.committed_offset
        for topic in bench.fetch(require_stable=False).topics
        for each in topic.partitions
    }


# --- when they count ---------------------------------------------------------------


def test_an_offset_counts_when_its_transaction_is_committed():
    """T13."""
    bench = Bench()
    bench.commit({ORDERS_0: 1})

    assert bench.commit_in_transaction(ONE, {ORDERS_0: 2, BILLS_0: 3}) == ErrorCode.NONE
    assert unstable(bench, ORDERS_0, BILLS_0, ORDERS_1) == {ORDERS_0, BILLS_0}
    bench.end(ONE, commit=True)

    assert unstable(bench, ORDERS_0, BILLS_0) == set()
    assert bench.fetched() == {ORDERS_0: 2, BILLS_0: 3}


def test_an_offset_of_a_transaction_that_is_aborted_never_was():
    """T14."""
    bench = Bench()
    bench.commit({ORDERS_0: 1})
    bench.commit_in_transaction(ONE, {ORDERS_0: 2, BILLS_0: 3})

    bench.end(ONE, commit=False)

    assert unstable(bench, ORDERS_0, BILLS_0) == set()
    assert bench.fetched() == {ORDERS_0: 1}


@pytest.mark.parametrize("partitions", [(ORDERS_0,), ()])
def test_an_offset_in_an_open_transaction_is_unstable_for_who_cares(partitions):
    """T13."""
    bench = Bench()
    bench.commit({ORDERS_0: 1})
    bench.commit_in_transaction(ONE, {ORDERS_0: 2})

    (topic,) = bench.fetch(*partitions).topics
    assert topic.partitions[0].error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert topic.partitions[0].committed_offset == -1
    (topic,) = bench.fetch(*partitions, require_stable=False).topics
    assert topic.partitions[0].committed_offset == 1


def test_of_several_commits_in_a_transaction_the_last_counts():
    bench = Bench()
    bench.commit_in_transaction(ONE, {ORDERS_0: 2})
    bench.commit_in_transaction(ONE, {ORDERS_0: 5})

    bench.end(ONE, commit=True)

    assert bench.fetched() == {ORDERS_0: 5}


def test_a_partition_is_unstable_until_the_last_of_its_transactions_ended():
    bench = Bench()
    bench.commit_in_transaction(ONE, {ORDERS_0: 2})
    bench.commit_in_transaction(OTHER, {ORDERS_0: 3})

    bench.end(ONE, commit=False)
    assert unstable(bench, ORDERS_0) == {ORDERS_0}
    bench.end(OTHER, commit=True)

    assert bench.fetched() == {ORDERS_0: 3}


def test_of_two_transactions_the_one_that_wrote_later_counts():
    """As compaction would have it: the last record of a key is the one that stays."""
    bench = Bench()
    bench.commit_in_transaction(ONE, {ORDERS_0: 2, ORDERS_1: 2})
    bench.commit_in_transaction(OTHER, {ORDERS_0: 3})

    bench.end(OTHER, commit=True)
    bench.end(ONE, commit=True)

    assert bench.fetched() == {ORDERS_0: 3, ORDERS_1: 2}


def test_a_plain_commit_meanwhile_is_kept():
    bench = Bench()
    bench.commit_in_transaction(ONE, {ORDERS_0: 2})
    bench.commit({ORDERS_0: 9})
    assert unstable(bench, ORDERS_0) == {ORDERS_0}

    bench.end(ONE, commit=True)

    assert bench.fetched() == {ORDERS_0: 9}


def test_a_marker_without_offsets_and_one_that_comes_twice_do_nothing():
    """Markers are written again when nobody knows whether they were (T5)."""
    bench = Bench()
    bench.end(ONE, commit=True)
    bench.commit_in_transaction(ONE, {ORDERS_0: 2})
    bench.end(ONE, commit=True)
    bench.commit({ORDERS_0: 3})
    bench.end(ONE, commit=True)

    assert bench.fetched() == {ORDERS_0: 3}


def test_a_failover_in_the_middle_changes_nothing():
    """G9, T13."""
    bench = Bench()
    bench.commit_in_transaction(ONE, {ORDERS_0: 2})
    bench.commit_in_transaction(OTHER, {ORDERS_1: 4})
    bench.end(OTHER, commit=True)

    bench.restart()
    assert unstable(bench, ORDERS_0, ORDERS_1) == {ORDERS_0}
    assert bench.state() == "Empty"
    bench.end(ONE, commit=True)

    assert bench.fetched() == {ORDERS_0: 2, ORDERS_1: 4}


def test_what_is_written_is_what_a_plain_commit_writes():
    bench = Bench()
    bench.commit_in_transaction(ONE, {ORDERS_0: 2}, metadata=None)

    (record,) = bench.records()
    assert record.key == OffsetCommitKey(group="g", topic="orders", partition=0)
    assert record.value_version == 4
    assert record.value.topic_id == topic_id("orders")
    assert (record.value.metadata, record.value.commit_timestamp) == ("", bench.now_ms)


def test_a_record_in_a_transaction_that_is_no_offset_counts_at_once():
    """Nobody writes it; what is read is taken as Kafka takes it."""
    bench = Bench()
    bench.commit({ORDERS_0: 1})
    key = OffsetCommitKey(group="g", topic="orders", partition=0)

    bench.shard.replay_pending(GroupRecord(key, None), ONE)

    assert bench.fetched() == {}


# --- who may ---------------------------------------------------------------------------


def test_a_producer_that_names_no_member_is_believed():
    """Before KIP-447 the transactional id alone fenced zombies."""
    bench = Bench()
    assert bench.commit_in_transaction(ONE, {ORDERS_0: 1}, version=2) == ErrorCode.NONE
    bench.stable(1)

    assert bench.commit_in_transaction(ONE, {ORDERS_0: 2}, version=2) == ErrorCode.NONE
    bench.consumer_heartbeat("c", group="new")
    assert bench.commit_in_transaction(ONE, {ORDERS_0: 1}, group="new") == ErrorCode.NONE


def test_a_producer_commits_for_the_member_it_names():
    """T15."""
    bench = Bench()
    (leader,) = bench.stable(1)

    def commit(member_id: str, generation: int, instance: str | None = None) -> int:
        return bench.commit_in_transaction(
            ONE, {ORDERS_0: 1}, member_id=member_id, generation=generation, instance=instance
        )

    assert commit(leader, 1) == ErrorCode.NONE
    assert commit("m", 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit(leader, 0) == ErrorCode.ILLEGAL_GENERATION
    assert commit(leader, -1) == ErrorCode.ILLEGAL_GENERATION
    assert commit("", -1, instance="i") == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_that_was_replaced_is_fenced():
    """T15."""
    bench = Bench()
    first = bench.join(instance="i")
    bench.wait(12)
    leader = bench.answers[first].member_id
    bench.sync(leader, 1, {leader: b"all"}, instance="i")
    bench.join(instance="i")

    code = bench.commit_in_transaction(
        ONE, {ORDERS_0: 1}, member_id=leader, generation=1, instance="i"
    )

    assert code == ErrorCode.FENCED_INSTANCE_ID


def test_a_transaction_can_be_finished_while_the_group_rebalances():
    bench = Bench()
    leader, other = bench.stable(2)
    bench.join(leader)
    bench.join(other)
    assert bench.state() == "CompletingRebalance"

    code = bench.commit_in_transaction(ONE, {ORDERS_0: 1}, member_id=other, generation=2)

    assert code == ErrorCode.NONE


def test_an_empty_group_takes_what_comes_without_a_generation():
    bench = Bench()
    (leader,) = bench.stable(1)
    bench.leave(leader)

    assert bench.commit_in_transaction(ONE, {ORDERS_0: 1}, member_id=leader) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("version", "error"), [(5, ErrorCode.ILLEGAL_GENERATION), (6, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_a_member_of_a_group_that_nobody_knows_is_refused(version, error):
    bench = Bench()

    code = bench.commit_in_transaction(
        ONE, {ORDERS_0: 1}, member_id="m", generation=1, version=version
    )

    assert code == error
    assert bench.log == []


@pytest.mark.parametrize(
    ("version", "error"), [(5, ErrorCode.ILLEGAL_GENERATION), (6, ErrorCode.STALE_MEMBER_EPOCH)]
)
def test_a_member_of_a_consumer_group_commits_in_its_epoch(version, error):
    """T15 for KIP-848; old clients know one error for a wrong epoch."""
    bench = Bench()
    epoch = bench.consumer_heartbeat("c").member_epoch

    def commit(member_id: str, member_epoch: int) -> int:
        return bench.commit_in_transaction(
            ONE, {ORDERS_0: 1}, member_id=member_id, generation=member_epoch, version=version
        )

    assert commit("c", epoch) == ErrorCode.NONE
    assert commit("c", epoch + 1) == error
    assert commit("c", epoch - 1) == error, "it did not hold the partition then"
    assert commit("d", epoch) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_commit_of_an_epoch_in_which_the_member_held_the_partition_is_good():
    """KIP-1251: nobody else can have read it meanwhile."""
    bench = Bench()
    bench.consumer_heartbeat("c")
    first = bench.consumer_heartbeat("c", 1).member_epoch
    bench.consumer_heartbeat("d")
    later = bench.consumer_heartbeat("c", first).member_epoch
    member = bench.shard._consumer.get("g").members["c"]
    held = next(number for (_, number) in member.assigned)

    code = bench.commit_in_transaction(ONE, {("orders", held): 1}, member_id="c", generation=first)

    assert later >= first
    assert code == ErrorCode.NONE


def test_too_much_metadata_is_refused():
    bench = Bench(offset_metadata_max_bytes=4)

    code = bench.commit_in_transaction(ONE, {ORDERS_0: 1}, metadata="12345")
    assert code == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert bench.commit_in_transaction(ONE, {ORDERS_0: 1}, metadata="1234") == ErrorCode.NONE


# --- what goes -------------------------------------------------------------------------


def test_offsets_that_a_transaction_may_change_do_not_expire():
    """G3."""
    bench = Bench(offsets_retention_ms=60_000)
    bench.commit({ORDERS_0: 1, BILLS_0: 1})
    bench.commit_in_transaction(ONE, {ORDERS_0: 2})

    bench.wait(1_200)

    assert careless(bench) == {ORDERS_0: 1}


def test_a_group_that_waits_for_a_transaction_alone_does_not_go():
    bench = Bench(offsets_retention_ms=60_000)
    bench.commit_in_transaction(ONE, {ORDERS_0: 2})
    bench.wait(1_200)
    assert bench.state() == "Empty"

    bench.end(ONE, commit=False)
    bench.wait(1_200)

    assert bench.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_with_a_deleted_group_go_the_offsets_of_its_open_transactions():
    bench = Bench()
    bench.commit({ORDERS_0: 1})
    bench.commit_in_transaction(ONE, {ORDERS_0: 2, BILLS_0: 2})
    bench.commit_in_transaction(ONE, {ORDERS_0: 7}, group="other")
    bench.commit_in_transaction(OTHER, {BILLS_0: 3})

    ticket = bench.ticket()
    bench.carry_out(bench.shard.delete_group("g", ticket))

    assert bench.answers[ticket].error_code == ErrorCode.NONE
    written = [record.key for record in bench.records() if record.value is None]
    assert written == [
        OffsetCommitKey(group="g", topic="bills", partition=0),
        OffsetCommitKey(group="g", topic="orders", partition=0),
        GroupMetadataKey(group="g"),
    ]
    bench.end(ONE, commit=True)
    bench.end(OTHER, commit=True)
    assert bench.fetched() == {}
    assert bench.fetched(group="other") == {ORDERS_0: 7}


def test_deleting_an_offset_deletes_what_transactions_would_make_of_it():
    bench = Bench()
    bench.commit_in_transaction(ONE, {ORDERS_0: 2, ORDERS_1: 3})

    assert delete(bench, "orders") == ErrorCode.NONE

    assert unstable(bench, ORDERS_0, ORDERS_1) == {ORDERS_1}
    bench.end(ONE, commit=True)
    assert bench.fetched() == {ORDERS_1: 3}


def test_the_offsets_of_a_deleted_topic_go_also_from_open_transactions():
    bench = Bench()
    bench.commit_in_transaction(ONE, {ORDERS_0: 1, BILLS_0: 2})

    bench.carry_out(bench.shard.on_topics_deleted({"orders"}))
    bench.end(ONE, commit=True)

    assert bench.fetched() == {BILLS_0: 2}
