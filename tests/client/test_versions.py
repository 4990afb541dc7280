"""Every version that both sides know carries the same facts, on a real cluster."""

from kbroker.client.producing import Producer
from kbroker.client.topics import EARLIEST, LATEST
from kbroker.records import Record, build_batch, parse_records, read_header
from kbroker.wire import api_spec
from kbroker.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kbroker.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kbroker.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)


def common_versions(connection, request_class) -> list[int]:
    theirs = connection.versions()[request_class.api_key]
    ours = api_spec(request_class.api_key).stable_versions
    return [version for version in ours if version in theirs]


def test_every_version_of_metadata_names_the_leader(cluster, new_topic):
    topic = new_topic(partitions=2)
    connection = cluster.any_connection()
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])

    versions = common_versions(connection, MetadataRequest)
    assert len(versions) > 5
    for version in versions:
        response = connection.ask(request, MetadataResponse, version=version)
        (described,) = response.topics
        ports = {broker.node_id: broker.port for broker in response.brokers}
        assert described.name == topic
        for partition in described.partitions:
            assert ports[partition.leader_id] == connection.address.port


def test_every_version_of_produce_appends(cluster, new_topic):
    topic = new_topic()
    leader = cluster.leader(topic, 0)
    topic_id = cluster.topic(topic).topic_id

    for offset, version in enumerate(common_versions(leader, ProduceRequest)):
        batch = build_batch([Record(0, 1_700_000_000_000, None, b"v")])
        data = PartitionProduceData(index=0, records=batch)
        topic_data = [TopicProduceData(name=topic, topic_id=topic_id, partition_data=[data])]
        request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=topic_data)
        response = leader.ask(request, ProduceResponse, version=version)

        (answer,) = response.responses[0].partition_responses
        assert (version, answer.error_code, answer.base_offset) == (version, 0, offset)


def test_every_version_of_fetch_reads_the_same_record(cluster, new_topic):
    topic = new_topic()
    producer = Producer(cluster, topic)
    producer.send(b"k", b"v")
    producer.flush()
    leader = cluster.leader(topic, 0)
    topic_id = cluster.topic(topic).topic_id

    for version in common_versions(leader, FetchRequest):
        partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=10_000)
        request = FetchRequest(
            max_wait_ms=5_000,
            min_bytes=1,
            topics=[FetchTopic(topic=topic, topic_id=topic_id, partitions=[partition])],
        )
        response = leader.ask(request, FetchResponse, version=version)

        (answer,) = response.responses[0].partitions
        assert (version, answer.error_code, answer.high_watermark) == (version, 0, 1)
        (record,) = parse_records(answer.records, read_header(answer.records))
        assert (record.key, record.value) == (b"k", b"v")


def test_every_version_of_list_offsets_finds_both_ends(cluster, new_topic):
    topic = new_topic()
    producer = Producer(cluster, topic)
    for _ in range(3):
        producer.send(None, b"v")
    producer.flush()
    leader = cluster.leader(topic, 0)

    for version in common_versions(leader, ListOffsetsRequest):
        for timestamp, offset in ((EARLIEST, 0), (LATEST, 3)):
            partition = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
            request = ListOffsetsRequest(
                replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[partition])]
            )
            response = leader.ask(request, ListOffsetsResponse, version=version)

            (answer,) = response.topics[0].partitions
            assert (version, answer.error_code, answer.offset) == (version, 0, offset)


def test_pipelined_requests_are_answered_in_order(cluster, new_topic):
    topics = [new_topic() for _ in range(3)]
    connection = cluster.any_connection()
    requests = [
        MetadataRequest(topics=[MetadataRequestTopic(name=topics[number % 3])])
        for number in range(30)
    ]

    responses = connection.pipeline(requests)

    assert [response.topics[0].name for response in responses] == topics * 10
