"""Consumer groups and their records: what is written, read again, shown, and asked of offsets."""

from dataclasses import replace

import pytest

from kbroker.groups.caller import Caller
from kbroker.groups.consumer_describing import list_consumer
from kbroker.groups.consumer_group import ConsumerGroup, ConsumerGroupState
from kbroker.groups.consumer_groups import ConsumerGroups
from kbroker.groups.consumer_members import ClassicMembership, ConsumerMember, MemberState
from kbroker.groups.consumer_offset_rules import (
    check_consumer_commit,
    check_consumer_commit_of,
    check_consumer_fetch,
)
from kbroker.groups.consumer_records import current_assignment, member_gone, member_metadata
from kbroker.groups.group_records import GroupRecord, encode_record, tombstone
from kbroker.groups.reconciliation import Target, reconcile
from kbroker.groups.refused import RefusedError
from kbroker.model import Uuid
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_current_member_assignment_record import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    TopicPartitions,
)
from kbroker.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from kbroker.wire.messages.consumer_group_metadata_record import ConsumerGroupMetadataKey
from kbroker.wire.messages.consumer_group_partition_metadata_record import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
)
from tests.groups.consumer_bench import GROUP, Bench, Topics
from tests.groups.consumer_clients import ClassicConsumer, Consumer, settle

TOPIC = Uuid(bytes(15) + b"\x01")


@pytest.fixture
def bench() -> Bench:
    return Bench(Topics(orders=4))


def kinds(bench: Bench) -> list[int]:
    """The types of the records in the log, which are the first two bytes of their keys."""
    return [int.from_bytes(key[:2]) for key, _ in bench.log]


# --- what is written --------------------------------------------------------------------


def test_a_first_join_writes_member_epoch_target_and_assignment(bench: Bench) -> None:
    Consumer(bench, "alice", "orders").beat()

    # MemberMetadata, Metadata, TargetAssignmentMember, TargetAssignmentMetadata,
    # CurrentMemberAssignment
    assert kinds(bench) == [5, 3, 7, 6, 8]


def test_a_regular_expression_is_written_before_the_epoch_that_needs_it(bench: Bench) -> None:
    Consumer(bench, "alice", regex="o.*").beat()

    assert kinds(bench) == [5, 16, 3, 7, 6, 8]


def test_what_kafka_4_0_wrote_of_topics_is_taken_back_with_the_next_epoch(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    alice.beat()
    old = GroupRecord(
        ConsumerGroupPartitionMetadataKey(group_id=GROUP), ConsumerGroupPartitionMetadataValue()
    )
    bench.log.append(encode_record(old))
    bench.reload(compact=False)
    assert bench.group().has_partition_metadata

    alice.topics = []
    alice.beat()

    assert not bench.group().has_partition_metadata
    assert kinds(bench).count(4) == 2


def test_a_group_that_goes_takes_all_its_records_along(bench: Bench) -> None:
    settle(Consumer(bench, "alice", regex="o.*"), Consumer(bench, "bob", "orders"))
    old = GroupRecord(
        ConsumerGroupPartitionMetadataKey(group_id=GROUP), ConsumerGroupPartitionMetadataValue()
    )
    bench.advance(45)
    bench.log.append(encode_record(old))
    bench.reload(compact=False)
    _, records = bench.groups.delete(GROUP)
    for record in records:
        bench.log.append(encode_record(record))

    bench.reload(compact=True)

    assert bench.log == []
    assert GROUP not in bench.groups


def test_tombstones_of_what_is_gone_already_change_nothing(bench: Bench) -> None:
    for record in [*member_gone(GROUP, "x"), tombstone(ConsumerGroupMetadataKey(group_id=GROUP))]:
        bench.groups.replay(record)
    assert GROUP not in bench.groups

    settle(Consumer(bench, "alice", "orders"))
    for record in member_gone(GROUP, "x"):
        bench.groups.replay(record)
    assert bench.group().members.keys() == {"alice"}


def test_a_group_known_by_its_offsets_makes_way_when_its_records_come(bench: Bench) -> None:
    settle(Consumer(bench, "alice", "orders"))
    other = Bench(bench.topics)
    other.classic.add_simple(GROUP)

    for key, value in bench.log:
        other._replay(key, value)

    assert GROUP in other.groups
    assert GROUP not in other.classic


# --- what is read again --------------------------------------------------------------------


@pytest.mark.parametrize("compact", [False, True])
def test_a_group_goes_on_as_before_after_a_failover(bench: Bench, compact: bool) -> None:
    """G4: also in the middle of a revocation."""
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    alice.beat()
    bob.beat()
    alice.beat()
    assert bench.group().members["alice"].state is MemberState.UNREVOKED_PARTITIONS

    bench.reload(compact=compact)
    bob.beat()
    assert bob.reads == set()
    settle(alice, bob)

    assert len(alice.reads) == len(bob.reads) == 2


def test_a_revocation_has_its_timeout_again_after_a_failover(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    alice.beat()
    bob.beat()
    alice.beat()
    bench.reload(compact=True)

    bench.advance(10)

    assert bench.group().members.keys() == {"bob"}


def test_sessions_start_again_with_a_failover(bench: Bench) -> None:
    settle(Consumer(bench, "alice", "orders"))
    bench.advance(40)
    bench.reload(compact=True)

    bench.advance(44)
    assert "alice" in bench.group().members
    bench.advance(1)
    assert bench.group().members == {}


def test_topics_that_changed_meanwhile_are_noticed_by_the_next_coordinator(bench: Bench) -> None:
    alice = Consumer(bench, "alice", regex="o.*")
    settle(alice)
    bench.topics.create("other", 1)

    bench.reload(compact=True)
    settle(alice)

    assert ("other", 0) in alice.reads


def test_a_member_of_two_records_in_any_order_is_the_same(bench: Bench) -> None:
    settle(Consumer(bench, "alice", "orders"))
    group = ConsumerGroup(GROUP)
    member = bench.group().members["alice"]

    group.replay(current_assignment(GROUP, member))

    assert group.members["alice"].assigned == member.assigned


def test_a_record_without_epochs_counts_from_the_members_epoch() -> None:
    value = ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=7,
        assigned_partitions=[
            TopicPartitions(topic_id=TOPIC, partitions=[1, 2], assignment_epochs=None)
        ],
    )

    assert ConsumerMember("x").with_assignment(value).assigned == {(TOPIC, 1): 7, (TOPIC, 2): 7}


def test_a_partition_whose_release_was_compacted_away_stays_with_its_new_holder() -> None:
    """G4."""
    group = ConsumerGroup(GROUP)
    for member_id in ("old", "new"):
        member = ConsumerMember(member_id, member_epoch=1, assigned={(TOPIC, 0): 1})
        group.replay(current_assignment(GROUP, member))

    for record in member_gone(GROUP, "old"):
        group.replay(record)

    assert group.holder((TOPIC, 0)) == "new"


def test_a_late_tombstone_of_a_replaced_static_member_leaves_its_successor() -> None:
    group = ConsumerGroup(GROUP)
    for member_id in ("old", "new"):
        group.replay(member_metadata(GROUP, ConsumerMember(member_id, instance_id="left")))

    for record in member_gone(GROUP, "old"):
        group.replay(record)

    successor = group.static_member("left")
    assert successor is not None
    assert successor.member_id == "new"


def test_a_member_at_its_target_has_no_step_to_take() -> None:
    member = ConsumerMember("x", member_epoch=3)

    assert reconcile(member, Target(3, frozenset()), lambda _partition: False, None) is member


def test_groups_without_configs_of_their_own_have_the_brokers(bench: Bench) -> None:
    groups = ConsumerGroups(bench.settings, bench.topics, bench.classic)
    request = Consumer(bench, "alice", "orders").request(0)

    outcome = groups.heartbeat(
        request, Caller("client", "/127.0.0.1", 1), bench.ticket(), bench.at, ""
    )

    ((_, answer),) = outcome.replies
    assert isinstance(answer, ConsumerGroupHeartbeatResponse)
    assert answer.heartbeat_interval_ms == bench.settings.consumer_heartbeat_interval_ms


# --- a state from the future ------------------------------------------------------------------


def test_a_member_in_a_state_we_do_not_know_must_join_anew(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    settle(alice)
    key = ConsumerGroupCurrentMemberAssignmentKey(group_id=GROUP, member_id="alice")
    value = bench.group().members["alice"].assignment_value()
    value.state = 99
    bench.log.append(encode_record(GroupRecord(key, value)))
    bench.reload(compact=False)
    assert bench.group().members["alice"].state is MemberState.UNKNOWN

    assert alice.beat() is ErrorCode.FENCED_MEMBER_EPOCH
    assert alice.beat() is ErrorCode.NONE

    assert len(alice.reads) == 4
    assert bench.group().state is ConsumerGroupState.STABLE


def test_a_member_in_a_state_we_do_not_know_that_says_nothing_must_join_anew() -> None:
    member = ConsumerMember("x", state=MemberState.UNKNOWN)

    with pytest.raises(RefusedError):
        reconcile(member, Target(1, frozenset()), lambda _partition: False, None)


# --- offsets ------------------------------------------------------------------------------------


def committed(group: ConsumerGroup, member_id: str, epoch: int, **options: object) -> ErrorCode:
    arguments = {"is_transactional": False, "api_version": 9, "instance_id": None, **options}
    return check_consumer_commit(
        group,
        member_id=member_id,
        member_epoch=epoch,
        **arguments,  # type: ignore[arg-type]
    )


def test_a_commit_is_from_a_member_in_an_epoch_it_has_reached(bench: Bench) -> None:
    """G5."""
    alice = Consumer(bench, "alice", "orders")
    settle(alice)
    group = bench.group()

    assert committed(group, "alice", 1) is ErrorCode.NONE
    assert committed(group, "alice", 2) is ErrorCode.STALE_MEMBER_EPOCH
    assert committed(group, "bob", 1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert committed(group, "", -1) is ErrorCode.UNKNOWN_MEMBER_ID
    assert committed(group, "alice", 1, api_version=8) is ErrorCode.UNSUPPORTED_VERSION
    assert committed(group, "alice", 1, api_version=3, is_transactional=True) is ErrorCode.NONE
    assert committed(group, "", -1, is_transactional=True) is ErrorCode.NONE
    alice.leave()
    assert committed(group, "", -1) is ErrorCode.NONE


def test_a_late_commit_is_good_for_what_the_member_has_held_since(bench: Bench) -> None:
    alice = Consumer(bench, "alice", "orders")
    settle(alice)
    bench.topics.grow("orders", 5)
    bench.topics_changed()
    settle(alice)
    group = bench.group()
    topic_id = bench.topics.topic_id("orders")
    assert topic_id is not None

    def late(partition: int, epoch: int, member_id: str = "alice") -> ErrorCode:
        return check_consumer_commit_of(
            group, member_id=member_id, member_epoch=epoch, partition=(topic_id, partition)
        )

    assert late(0, 1) is ErrorCode.NONE
    assert late(4, 2) is ErrorCode.NONE
    assert late(4, 1) is ErrorCode.STALE_MEMBER_EPOCH
    assert late(9, 1) is ErrorCode.STALE_MEMBER_EPOCH
    assert late(0, 1, "nobody, in a transaction") is ErrorCode.NONE


def test_a_member_that_speaks_the_classic_protocol_is_told_of_generations(bench: Bench) -> None:
    settle(Consumer(bench, "alice", "orders"))
    carol = ClassicConsumer(bench, "orders")
    carol.join()
    group = bench.group()

    assert committed(group, carol.member_id, 99) is ErrorCode.ILLEGAL_GENERATION
    assert committed(group, carol.member_id, carol.generation, api_version=2) is ErrorCode.NONE


def test_offsets_are_fetched_by_members_in_their_epoch_or_by_anybody_else(bench: Bench) -> None:
    settle(Consumer(bench, "alice", "orders"))
    group = bench.group()

    assert check_consumer_fetch(group, member_id=None, member_epoch=-1) is ErrorCode.NONE
    assert check_consumer_fetch(group, member_id="alice", member_epoch=1) is ErrorCode.NONE
    assert check_consumer_fetch(group, member_id="alice", member_epoch=0) is (
        ErrorCode.STALE_MEMBER_EPOCH
    )
    assert check_consumer_fetch(group, member_id="bob", member_epoch=1) is (
        ErrorCode.UNKNOWN_MEMBER_ID
    )


# --- what is shown ------------------------------------------------------------------------------


def test_a_group_is_described_with_what_members_have_and_shall_have(bench: Bench) -> None:
    alice = Consumer(bench, "alice", regex="o.*", instance_id="left")
    alice.beat()
    carol = ClassicConsumer(bench, "orders")
    carol.join()

    described = bench.groups.describe(GROUP)

    assert described.group_state == "Reconciling"
    assert (described.group_epoch, described.assignment_epoch) == (2, 2)
    assert described.assignor_name == "uniform"
    first, second = described.members
    assert (first.member_id, first.instance_id, first.member_type) == ("alice", "left", 1)
    assert first.subscribed_topic_regex == "o.*"
    assert first.assignment.topic_partitions[0].partitions == [0, 1, 2, 3]
    assert first.target_assignment.topic_partitions[0].topic_name == "orders"
    assert first.target_assignment.topic_partitions[0].partitions == [0, 1]
    assert (second.member_type, second.subscribed_topic_regex) == (0, "")
    assert second.subscribed_topic_names == ["orders"]


def test_a_topic_that_is_gone_is_not_shown(bench: Bench) -> None:
    Consumer(bench, "alice", "orders").beat()
    bench.topics.delete("orders")

    assert bench.groups.describe(GROUP).members[0].assignment.topic_partitions == []


def test_a_group_that_is_not_there_has_no_state(bench: Bench) -> None:
    described = bench.groups.describe(GROUP)

    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.group_state == ""


def test_a_group_shows_its_state_as_it_goes(bench: Bench) -> None:
    alice, bob = Consumer(bench, "alice", "orders"), Consumer(bench, "bob", "orders")
    alice.beat()
    assert list_consumer(bench.group()).group_state == "Stable"
    bob.beat()
    assert list_consumer(bench.group()).group_state == "Reconciling"
    bob.leave()
    assert list_consumer(bench.group()).group_state == "Assigning"
    alice.leave()
    listed = list_consumer(bench.group())
    assert (listed.group_state, listed.group_type) == ("Empty", "consumer")


def test_a_member_is_a_value() -> None:
    member = ConsumerMember("x", classic=ClassicMembership(1_000, (("range", b"\x01"),)))

    assert ConsumerMember("x").with_metadata(member.metadata_value()) == member
    assert replace(member, rack_id="r") != member
