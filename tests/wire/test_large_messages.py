"""What passes on Apache Kafka passes here: large requests stay within the budget of a decoder.

Names have five to eight letters, numbers of partitions go beyond those that CPython shares; the
frames lie in a receive buffer. Each is held to the bound that hostile bytes are held to.
"""

from collections.abc import Callable

import pytest

from kbroker.model import Uuid
from kbroker.wire.message import Message
from kbroker.wire.messages import create_topics as create
from kbroker.wire.messages import describe_configs as describe
from kbroker.wire.messages import describe_topic_partitions as topic_partitions
from kbroker.wire.messages import incremental_alter_configs as alter
from kbroker.wire.messages import list_offsets as offsets
from kbroker.wire.messages import metadata, offset_fetch
from kbroker.wire.messages import offset_commit as commit
from kbroker.wire.messages import offset_delete as delete
from kbroker.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kbroker.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.wire.test_hostile import decode_hostile

# Seconds of work; part of `make test`, not of `make check`.
pytestmark = pytest.mark.slow

# 5 letters at the least: "t1000" to "t9999", and "t10000" to "t10999".
NAMES = [f"t{number}" for number in range(1000, 11_000)]
PARTITIONS = range(10_000)
TOPIC_ID = Uuid(b"0123456789abcdef")

Case = tuple[Message, int]


def metadata_by_name() -> list[Case]:
    topics = [metadata.MetadataRequestTopic(name=name) for name in NAMES]
    return [(metadata.MetadataRequest(topics=topics), version) for version in (1, 9, 12)]


def metadata_by_id() -> list[Case]:
    topics = [metadata.MetadataRequestTopic(name=None, topic_id=TOPIC_ID) for _ in NAMES]
    return [(metadata.MetadataRequest(topics=topics), 12)]


def create_without_configs() -> list[Case]:
    topics = [
        create.CreatableTopic(name=name, num_partitions=300, replication_factor=3) for name in NAMES
    ]
    return [(create.CreateTopicsRequest(topics=topics), version) for version in (2, 5, 7)]


def create_with_a_config() -> list[Case]:
    config = create.CreatableTopicConfig(name="retention.ms", value="1000")
    topics = [
        create.CreatableTopic(name=name, num_partitions=3, replication_factor=3, configs=[config])
        for name in NAMES[:5000]
    ]
    return [(create.CreateTopicsRequest(topics=topics), version) for version in (2, 5, 7)]


def create_with_assignments() -> list[Case]:
    assignments = [
        create.CreatableReplicaAssignment(partition_index=index, broker_ids=[1])
        for index in range(5000)
    ]
    topic = create.CreatableTopic(
        name="topic", num_partitions=-1, replication_factor=-1, assignments=assignments
    )
    return [(create.CreateTopicsRequest(topics=[topic]), version) for version in (2, 5, 7)]


def describe_configs() -> list[Case]:
    resources = [
        describe.DescribeConfigsResource(
            resource_type=2, resource_name=name, configuration_keys=None
        )
        for name in NAMES
    ]
    return [(describe.DescribeConfigsRequest(resources=resources), version) for version in (1, 4)]


def alter_configs() -> list[Case]:
    config = alter.AlterableConfig(name="retention.ms", config_operation=0, value="1000")
    resources = [
        alter.AlterConfigsResource(resource_type=2, resource_name=name, configs=[config])
        for name in NAMES
    ]
    request = alter.IncrementalAlterConfigsRequest(resources=resources)
    return [(request, version) for version in (0, 1)]


def commit_offsets() -> list[Case]:
    partitions = [
        commit.OffsetCommitRequestPartition(
            partition_index=index, committed_offset=2**40 + index, committed_leader_epoch=3
        )
        for index in PARTITIONS
    ]
    one = [commit.OffsetCommitRequestTopic(name="topic", partitions=partitions)]
    many = [
        commit.OffsetCommitRequestTopic(name=name, partitions=[partition])
        for name, partition in zip(NAMES, partitions, strict=True)
    ]
    return [
        (commit.OffsetCommitRequest(group_id="group", topics=topics), 8) for topics in (one, many)
    ]


def fetch_offsets() -> list[Case]:
    topics = [
        offset_fetch.OffsetFetchRequestTopics(name=name, partition_indexes=[0]) for name in NAMES
    ]
    group = offset_fetch.OffsetFetchRequestGroup(group_id="group", topics=topics)
    return [(offset_fetch.OffsetFetchRequest(groups=[group]), 8)]


def delete_offsets() -> list[Case]:
    partitions = [delete.OffsetDeleteRequestPartition(partition_index=n) for n in PARTITIONS]
    topic = delete.OffsetDeleteRequestTopic(name="topic", partitions=partitions)
    return [(delete.OffsetDeleteRequest(group_id="group", topics=[topic]), 0)]


def list_offsets() -> list[Case]:
    partitions = [
        offsets.ListOffsetsPartition(partition_index=index, timestamp=-1) for index in PARTITIONS
    ]
    topic = offsets.ListOffsetsTopic(name="topic", partitions=partitions)
    return [(offsets.ListOffsetsRequest(topics=[topic]), version) for version in (1, 7)]


def fetch() -> list[Case]:
    partitions = [
        FetchPartition(partition=index, fetch_offset=2**40, partition_max_bytes=2**20)
        for index in PARTITIONS
    ]
    one = [FetchTopic(topic="topic", topic_id=TOPIC_ID, partitions=partitions)]
    many = [
        FetchTopic(topic=name, topic_id=TOPIC_ID, partitions=[partition])
        for name, partition in zip(NAMES, partitions, strict=True)
    ]
    return [
        (FetchRequest(topics=topics), version) for topics in (one, many) for version in (4, 12, 17)
    ]


def delete_topics() -> list[Case]:
    states = [DeleteTopicState(name=name) for name in NAMES]
    return [
        (DeleteTopicsRequest(topic_names=NAMES), 1),
        (DeleteTopicsRequest(topic_names=NAMES), 5),
        (DeleteTopicsRequest(topics=states), 6),
    ]


def metadata_response() -> list[Case]:
    partitions = [
        metadata.MetadataResponsePartition(
            partition_index=index, leader_id=1, replica_nodes=[1, 2, 3], isr_nodes=[1, 2, 3]
        )
        for index in PARTITIONS
    ]
    topic = metadata.MetadataResponseTopic(name="topic", partitions=partitions)
    return [(metadata.MetadataResponse(topics=[topic]), version) for version in (1, 9, 12)]


def described_partitions() -> list[Case]:
    partitions = [
        topic_partitions.DescribeTopicPartitionsResponsePartition(
            partition_index=index,
            leader_id=1,
            replica_nodes=[1, 2, 3],
            isr_nodes=[1, 2, 3],
            eligible_leader_replicas=[],
            last_known_elr=[],
        )
        for index in range(2000)
    ]
    topic = topic_partitions.DescribeTopicPartitionsResponseTopic(
        name="topic", topic_id=TOPIC_ID, partitions=partitions
    )
    return [(topic_partitions.DescribeTopicPartitionsResponse(topics=[topic]), 0)]


MAKERS = [
    metadata_by_name,
    metadata_by_id,
    create_without_configs,
    create_with_a_config,
    create_with_assignments,
    describe_configs,
    alter_configs,
    commit_offsets,
    fetch_offsets,
    delete_offsets,
    list_offsets,
    fetch,
    delete_topics,
    metadata_response,
    described_partitions,
]


@pytest.mark.parametrize("make", MAKERS)
def test_large_messages_are_decoded_within_the_budget(make: Callable[[], list[Case]]):
    for message, version in make():
        frame = message.encode_bytes(version)
        decoded = decode_hostile(type(message), version, frame)
        assert decoded is not None, f"version {version}"
        assert decoded[0].encode_bytes(version) == frame
