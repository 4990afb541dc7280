"""A shard finds the right kind of group, and keeps offsets for both kinds alike."""

from kbroker.groups.group_records import tombstone
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_metadata_record import ConsumerGroupMetadataKey
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey
from kbroker.wire.messages.list_groups import ListedGroup
from tests.groups.bench import Bench, Topics
from tests.groups.test_offsets import delete
from tests.groups.test_shard import delete_group

ORDERS_0 = ("orders", 0)
BILLS_0 = ("bills", 0)


def consumer(bench: Bench, member_id: str = "c") -> int:
    """The epoch of a member that joined and has what it wants."""
    return bench.consumer_heartbeat(member_id).member_epoch


def test_a_consumer_group_is_listed_and_described_as_such():
    bench = Bench()
    consumer(bench)

    assert bench.shard.list_groups([], ["consumer"]) == [
        ListedGroup(
            group_id="g", protocol_type="consumer", group_state="Stable", group_type="consumer"
        )
    ]
    assert bench.shard.list_groups([], ["classic"]) == []
    assert bench.shard.consumer_group_describe("g").group_state == "Stable"
    assert bench.describe().error_message == "Group g is not a classic group."


def test_a_classic_group_is_no_consumer_group():
    bench = Bench()
    bench.stable(1)

    assert bench.shard.consumer_group_describe("g").error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_consumer_commits_in_its_epoch():
    """G5."""
    bench = Bench()
    epoch = consumer(bench)

    def commit(member_id: str, generation: int, version: int = 9) -> int:
        return bench.commit(
            {ORDERS_0: 1}, member_id=member_id, generation=generation, version=version
        )

    assert commit("c", epoch) == ErrorCode.NONE
    assert commit("c", epoch + 1) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit("c", epoch - 1) == ErrorCode.STALE_MEMBER_EPOCH
    assert commit("c", epoch, version=8) == ErrorCode.UNSUPPORTED_VERSION
    assert commit("stranger", epoch) == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit("", -1) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_commit_that_was_under_way_is_good_for_what_the_member_kept():
    """KIP-1251."""
    bench = Bench()
    first = consumer(bench)
    bench.wait(1.0)  # until there may be another target
    bench.consumer_heartbeat("c", first, topics=["orders", "bills"])

    late = bench.commit({ORDERS_0: 1}, member_id="c", generation=first)
    wrong = bench.commit({BILLS_0: 1}, member_id="c", generation=first)
    unknown = bench.commit({("gone", 0): 1}, member_id="c", generation=first)

    assert (late, wrong, unknown) == (
        ErrorCode.NONE,
        ErrorCode.STALE_MEMBER_EPOCH,
        ErrorCode.STALE_MEMBER_EPOCH,
    )


def test_a_consumer_fetches_in_its_epoch():
    bench = Bench()
    epoch = consumer(bench)
    bench.commit({ORDERS_0: 3}, member_id="c", generation=epoch)

    good = bench.fetch(ORDERS_0, member_id="c", member_epoch=epoch)
    stale = bench.fetch(ORDERS_0, member_id="c", member_epoch=epoch + 1)

    assert good.topics[0].partitions[0].committed_offset == 3
    assert (stale.error_code, stale.topics) == (ErrorCode.STALE_MEMBER_EPOCH, [])
    assert bench.fetched(ORDERS_0) == {ORDERS_0: 3}


def test_offsets_of_topics_that_consumers_read_are_not_deleted():
    bench = Bench()
    bench.commit({BILLS_0: 1})
    consumer(bench)

    assert delete(bench, "orders") == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert delete(bench, "bills") == ErrorCode.NONE
    assert bench.fetched() == {}


def test_a_consumer_group_with_members_is_not_deleted_and_an_empty_one_is():
    bench = Bench()
    epoch = consumer(bench)
    bench.commit({ORDERS_0: 1}, member_id="c", generation=epoch)
    assert delete_group(bench).error_code == ErrorCode.NON_EMPTY_GROUP
    bench.consumer_heartbeat("c", -1)

    assert delete_group(bench).error_code == ErrorCode.NONE
    assert bench.shard.list_groups([], []) == []
    assert bench.fetched() == {}


def test_offsets_of_a_consumer_group_go_when_nobody_reads_them():
    """G3, KIP-211."""
    bench = Bench(offsets_retention_ms=60_000)
    epoch = consumer(bench)
    bench.commit({ORDERS_0: 1}, member_id="c", generation=epoch)
    bench.commit({BILLS_0: 1}, member_id="c", generation=epoch)
    for _ in range(25):
        bench.wait(30)
        assert bench.consumer_heartbeat("c", epoch).error_code == ErrorCode.NONE
    assert bench.fetched() == {ORDERS_0: 1}
    bench.consumer_heartbeat("c", -1)

    bench.wait(600)

    assert bench.fetched() == {}
    assert bench.shard.list_groups([], []) == []


def test_offsets_committed_before_anybody_joined_are_those_of_the_consumer_group():
    bench = Bench()
    bench.commit({ORDERS_0: 5})
    consumer(bench)
    assert bench.fetched() == {ORDERS_0: 5}

    bench.restart()

    assert [each.group_type for each in bench.shard.list_groups([], [])] == ["consumer"]
    assert bench.fetched() == {ORDERS_0: 5}


def test_a_classic_member_in_a_consumer_group_is_served_there():
    bench = Bench()
    bench.consumer_heartbeat("c")
    member_id = bench.member_id()
    joined = bench.answers[bench.join(member_id)]
    generation = joined.generation_id

    assert joined.error_code == ErrorCode.NONE
    assert bench.answers[bench.sync(member_id, generation)].error_code == ErrorCode.NONE
    assert bench.heartbeat(member_id, generation) == ErrorCode.NONE
    assert bench.leave(member_id).members[0].error_code == ErrorCode.NONE


def test_a_group_changes_its_kind_and_back_and_nothing_is_lost():
    bench = Bench(Topics(orders=2))
    (classic,) = bench.stable(1, protocols=[("range", b"\0\0\0\0\0\1\0\6orders\0\0\0\0")])
    bench.commit({ORDERS_0: 5}, member_id=classic, generation=1)
    bench.leave(classic)
    epoch = consumer(bench)
    assert epoch > 0
    assert tombstone(GroupMetadataKey(group="g")) in bench.records()
    bench.consumer_heartbeat("c", -1)

    bench.join(version=3)

    assert tombstone(ConsumerGroupMetadataKey(group_id="g")) in bench.records()
    assert bench.state() == "PreparingRebalance"
    assert bench.fetched() == {ORDERS_0: 5}
    bench.wait(3)
    bench.restart()
    assert bench.state() == "Empty"
    assert bench.fetched() == {ORDERS_0: 5}


def test_topics_that_change_change_consumer_groups():
    bench = Bench(Topics(orders=1))
    consumer(bench)
    bench.topics.counts["orders"] = 3
    bench.topics.revision += 1

    bench.carry_out(bench.shard.on_topics_changed(bench.now, bench.now_ms))

    assert bench.shard.consumer_group_describe("g").group_state == "Assigning"


def test_settings_reach_both_kinds():
    bench = Bench()
    bench.settings = type(bench.settings)(consumer_heartbeat_interval_ms=7_000)

    bench.shard.configure(bench.settings)

    assert bench.consumer_heartbeat("c").heartbeat_interval_ms == 7_000


def test_a_tick_does_what_is_due_before_it_looks_for_expired_offsets():
    bench = Bench(offsets_retention_ms=60_000)
    bench.commit({BILLS_0: 1}, group="simple")
    bench.now += 555
    consumer(bench)

    bench.wait(45)

    assert bench.shard.consumer_group_describe("g").group_state != "Stable"
    assert bench.fetched(group="simple") == {}
