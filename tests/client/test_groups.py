"""Groups as their coordinators tell about them: real ones, and old or moving coordinators."""

import dataclasses
import time
from uuid import uuid4

import pytest

from kbroker.client.consuming import Start
from kbroker.client.errors import BrokerError, ClientError
from kbroker.client.group_offsets import (
    Move,
    PartitionLag,
    Shift,
    commit_offsets,
    committed_offsets,
    partition_lags,
    plan_moves,
)
from kbroker.client.groups import (
    GroupMember,
    ListedGroup,
    assigned_partitions,
    delete_group,
    describe_group,
    list_groups,
)
from kbroker.client.producing import Producer
from kbroker.client.topics import NEW_TOPIC_PATIENCE_S
from kbroker.model import TopicPartition
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_protocol import (
    AssignmentTopicPartition,
    ConsumerProtocolAssignment,
)
from tests.client.members import commit, members

both_protocols = pytest.mark.parametrize(
    ("protocol", "assignor"), [("classic", "range"), ("consumer", "uniform")]
)


@pytest.fixture
def group() -> str:
    """A group id that no other test uses."""
    return f"group-{uuid4().hex[:12]}"


def fill(cluster, topic: str, partition: int, timestamps: list[int]) -> None:
    producer = Producer(cluster, topic, partition=partition)
    for timestamp_ms in timestamps:
        producer.send(None, b"v", timestamp_ms=timestamp_ms)
    producer.flush()


def encoded(version: int, *topics: tuple[str, list[int]]) -> bytes:
    """An assignment as a classic member gets it, its version in front."""
    named = [AssignmentTopicPartition(topic=name, partitions=numbers) for name, numbers in topics]
    message = ConsumerProtocolAssignment(assigned_partitions=named)
    return version.to_bytes(2, "big", signed=True) + message.encode_bytes(min(version, 3))


# Assignments


@pytest.mark.parametrize("version", [0, 1, 3, 9])
def test_an_assignment_is_read_at_any_version(version):
    data = encoded(version, ("b", [2, 0]), ("a", [1]))

    assert assigned_partitions(data) == (("a", 1), ("b", 0), ("b", 2))


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\0\0", b"\xff\xff\0\0\0\0", b"\0\1\0\0\xff\xff\xff"]
)
def test_an_assignment_that_makes_no_sense_has_no_partitions(data):
    assert assigned_partitions(data) == ()


# Lag


def test_lag_is_known_when_both_offsets_are():
    partition = TopicPartition("t", 0)

    assert PartitionLag(partition, 3, 10, None).lag == 7
    assert PartitionLag(partition, None, 10, None).lag is None
    assert PartitionLag(partition, 3, None, None).lag is None


# Real groups


@both_protocols
def test_a_group_with_members_is_described(
    cluster, bootstrap, new_topic, group, protocol, assignor
):
    topic = new_topic(partitions=3)
    fill(cluster, topic, 1, [1000, 2000])
    with members(
        bootstrap, group, topic, "left", "right", partitions=3, group_protocol=protocol
    ) as joined:
        owned = [
            tuple(sorted((each.topic, each.partition) for each in member.assignment()))
            for member in joined
        ]
        described = describe_group(cluster, group)
        (listed,) = [each for each in list_groups(cluster) if each.group_id == group]
        lags = partition_lags(cluster, described)

    assert listed == ListedGroup(group, protocol, "consumer", "Stable")
    assert (described.group_type, described.protocol_type) == (protocol, "consumer")
    assert (described.state, described.assignor) == ("Stable", assignor)
    assert described.coordinator == cluster.any_connection().address
    by_client = {member.client_id: member for member in described.members}
    assert [by_client["left"].partitions, by_client["right"].partitions] == owned
    assert {member.host for member in described.members} == {"127.0.0.1"}
    assert [(lag.partition.partition, lag.committed, lag.log_end) for lag in lags] == [
        (0, None, 0),
        (1, None, 2),
        (2, None, 0),
    ]
    for lag in lags:
        assert lag.owner is not None
        assert lag.partition in lag.owner.partitions


def test_a_member_with_an_instance_id_is_known_by_it(cluster, bootstrap, new_topic, group):
    topic = new_topic()
    with members(bootstrap, group, topic, "c", partitions=1, group_instance_id="fixed"):
        (member,) = describe_group(cluster, group).members

    assert member.instance_id == "fixed"


def test_groups_are_filtered_by_state_and_type(cluster, bootstrap, new_topic, group):
    topic = new_topic()
    commit(bootstrap, f"{group}-empty", topic, {0: 0})

    def found(**filters: list[str]) -> set[str]:
        ids = {each.group_id for each in list_groups(cluster, **filters)}
        return {each for each in (group, f"{group}-empty") if each in ids}

    with members(bootstrap, group, topic, "c", partitions=1, group_protocol="consumer"):
        assert found() == {group, f"{group}-empty"}
        assert found(states=["Empty"]) == {f"{group}-empty"}
        assert found(states=["Empty", "Stable"]) == {group, f"{group}-empty"}
        assert found(types=["consumer"]) == {group}
        assert found(types=["consumer"], states=["Empty"]) == set()


def test_lag_is_what_was_not_committed_yet(cluster, bootstrap, new_topic, group):
    topic = new_topic(partitions=2)
    fill(cluster, topic, 0, [1000] * 5)
    fill(cluster, topic, 1, [1000] * 2)
    commit(bootstrap, group, topic, {0: 3, 1: 2})

    lags = partition_lags(cluster, describe_group(cluster, group))

    assert [(lag.committed, lag.log_end, lag.lag, lag.owner) for lag in lags] == [
        (3, 5, 2, None),
        (2, 2, 0, None),
    ]


def test_a_topic_that_is_gone_is_not_waited_for(cluster, bootstrap, new_topic, group):
    """A member owns the partitions of a deleted topic until it hears of that."""
    topic = new_topic()
    commit(bootstrap, group, topic, {0: 0})
    described = describe_group(cluster, group)
    owner = GroupMember("m", None, "c", "h", (TopicPartition(f"{topic}-gone", 0),))

    started = time.monotonic()
    lags = partition_lags(cluster, dataclasses.replace(described, members=(owner,)))

    assert [(lag.committed, lag.log_end, lag.owner) for lag in lags] == [
        (0, 0, None),
        (None, None, owner),
    ]
    assert time.monotonic() - started < NEW_TOPIC_PATIENCE_S


def test_a_group_that_is_not_there_is_not_found(cluster, group):
    with pytest.raises(BrokerError) as described:
        describe_group(cluster, group)
    with pytest.raises(BrokerError) as deleted:
        delete_group(cluster, group)

    assert described.value.code is ErrorCode.GROUP_ID_NOT_FOUND
    assert deleted.value.code is ErrorCode.GROUP_ID_NOT_FOUND
    assert committed_offsets(cluster, group) == {}


@both_protocols
def test_a_group_is_deleted_once_its_members_have_left(
    cluster, bootstrap, new_topic, group, protocol, assignor
):
    topic = new_topic()
    with members(bootstrap, group, topic, "c", partitions=1, group_protocol=protocol):
        with pytest.raises(BrokerError, match="NON_EMPTY_GROUP"):
            delete_group(cluster, group)
        with pytest.raises(BrokerError, match="the group has members"):
            commit_offsets(cluster, group, {TopicPartition(topic, 0): 0})

    described = describe_group(cluster, group)
    assert (described.state, described.group_type) == ("Empty", protocol)
    assert described.assignor == ("" if protocol == "classic" else assignor)
    delete_group(cluster, group)
    assert group not in {each.group_id for each in list_groups(cluster)}


# Moving offsets


def test_offsets_move_within_the_log(cluster, bootstrap, new_topic, group):
    topic = new_topic(partitions=2)
    fill(cluster, topic, 0, [1000, 2000, 3000, 4000])
    fill(cluster, topic, 1, [1000])
    commit(bootstrap, group, topic, {0: 2})
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)

    def moved(target: Start | Shift, *partitions: TopicPartition) -> list[Move]:
        return plan_moves(cluster, group, partitions, target)

    assert moved(Start.earliest(), zero, one) == [(zero, 2, 0), (one, None, 0)]
    assert moved(Start.latest(), zero, one) == [(zero, 2, 4), (one, None, 1)]
    assert moved(Start.at_offset(3), zero, one) == [(zero, 2, 3), (one, None, 1)]
    assert moved(Start.at_timestamp(2500), zero, one) == [(zero, 2, 2), (one, None, 1)]
    assert moved(Start.at_timestamp(9000), zero) == [(zero, 2, 4)]
    assert moved(Shift(1), zero) == [(zero, 2, 3)]
    assert moved(Shift(-1), zero) == [(zero, 2, 1)]
    assert moved(Shift(-100), zero) == [(zero, 2, 0)]
    assert moved(Shift(100), zero) == [(zero, 2, 4)]
    with pytest.raises(ClientError, match=f"{topic}-1 has no committed offset to shift"):
        moved(Shift(1), zero, one)
    assert committed_offsets(cluster, group) == {zero: 2}, "a plan commits nothing"


def test_what_is_committed_from_outside_is_where_the_group_goes_on(
    cluster, bootstrap, new_topic, group
):
    topic = new_topic(partitions=2)
    fill(cluster, topic, 1, [1000, 2000, 3000])
    offsets = {TopicPartition(topic, 0): 0, TopicPartition(topic, 1): 2}

    commit_offsets(cluster, group, offsets)

    assert committed_offsets(cluster, group) == offsets
    with members(bootstrap, group, topic, "c", partitions=2) as (member,):
        positions = {each.partition: each.offset for each in member.committed(member.assignment())}
    assert positions == {0: 0, 1: 2}
