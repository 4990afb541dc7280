"""The messages that are measured, as a broker meets them."""

from kbroker.model import Uuid
from kbroker.records import Record, build_batch
from kbroker.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kbroker.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kbroker.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

# The newest versions that the clients of 2025 and later speak and all three codecs know.
PRODUCE_VERSION = 12
FETCH_VERSION = 16
METADATA_VERSION = 12
JOIN_GROUP_VERSION = 9

TOPIC_ID = Uuid(bytes(range(16)))


def batch(size: int) -> bytes:
    """One uncompressed batch of about ``size`` bytes, of records of a hundred bytes."""
    records = [
        Record(offset=offset, timestamp_ms=1_700_000_000_000, key=None, value=bytes(94))
        for offset in range(max(1, (size - 61) // 102))
    ]
    return bytes(build_batch(records))


def produce_request(partitions: int, batch_bytes: int) -> ProduceRequest:
    """A batch for each partition of one topic."""
    data = batch(batch_bytes)
    return ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[
            TopicProduceData(
                name="payments",
                partition_data=[
                    PartitionProduceData(index=index, records=data) for index in range(partitions)
                ],
            )
        ],
    )


def produce_response(partitions: int) -> ProduceResponse:
    """All of them taken."""
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name="payments",
                partition_responses=[
                    PartitionProduceResponse(
                        index=index, base_offset=1_000_000 + index, log_start_offset=0
                    )
                    for index in range(partitions)
                ],
            )
        ]
    )


def fetch_request(partitions: int) -> FetchRequest:
    """A full fetch of one topic, as a new session begins."""
    return FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=52_428_800,
        topics=[
            FetchTopic(
                topic_id=TOPIC_ID,
                partitions=[
                    FetchPartition(
                        partition=index,
                        current_leader_epoch=7,
                        fetch_offset=1_000_000 + index,
                        partition_max_bytes=1_048_576,
                    )
                    for index in range(partitions)
                ],
            )
        ],
    )


def metadata_response(partitions: int) -> MetadataResponse:
    """Three brokers and one topic with three replicas of each partition."""
    return MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id=node, host=f"broker-{node}.example.org", port=9092)
            for node in (1, 2, 3)
        ],
        cluster_id="Zm9vYmFyYmF6cXV4MTIzNA",
        controller_id=1,
        topics=[
            MetadataResponseTopic(
                name="payments",
                topic_id=TOPIC_ID,
                partitions=[
                    MetadataResponsePartition(
                        partition_index=index,
                        leader_id=1 + index % 3,
                        leader_epoch=7,
                        replica_nodes=[1, 2, 3],
                        isr_nodes=[1, 2, 3],
                    )
                    for index in range(partitions)
                ],
            )
        ],
    )


def join_group_request() -> JoinGroupRequest:
    """A consumer with two assignors and a subscription of a hundred bytes."""
    return JoinGroupRequest(
        group_id="billing",
        session_timeout_ms=45_000,
        rebalance_timeout_ms=300_000,
        member_id="consumer-billing-1-0f8fad5b-d9cb-469f-a165-70867728950e",
        protocol_type="consumer",
        protocols=[
            JoinGroupRequestProtocol(name="range", metadata=bytes(100)),
            JoinGroupRequestProtocol(name="cooperative-sticky", metadata=bytes(100)),
        ],
        reason="",
    )
