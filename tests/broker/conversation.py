"""A raw client's view of one running broker: the requests that the tests here send."""

import time
from dataclasses import dataclass

from kbroker.client.connection import Connection
from kbroker.model import ZERO_UUID, Uuid
from kbroker.records import Record, build_batch
from kbroker.testing import Broker
from kbroker.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kbroker.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

# Now: producers that were last heard of long ago are forgotten.
TIMESTAMP_MS = time.time_ns() // 1_000_000


def batch(*values: bytes, producer_id: int = -1, sequence: int = -1, **options: int) -> bytearray:
    """A batch of records without keys."""
    records = [
        Record(number, TIMESTAMP_MS + number, b"key", value) for number, value in enumerate(values)
    ]
    epoch = -1 if producer_id < 0 else 0
    return build_batch(
        records,
        producer_id=producer_id,
        producer_epoch=options.get("producer_epoch", epoch),
        base_sequence=sequence,
    )


@dataclass
class Conversation:
    """One connection to one broker."""

    connection: Connection

    @classmethod
    def with_broker(cls, broker: Broker) -> "Conversation":
        return cls(Connection(broker.host, broker.port, client_id="tests"))

    def create_topic(self, name: str, partitions: int = 1, **configs: str) -> Uuid:
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            configs=[
                CreatableTopicConfig(name=key.replace("_", "."), value=value)
                for key, value in configs.items()
            ],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        answer = self.connection.ask(request, CreateTopicsResponse, version=7)
        assert answer.topics[0].error_code == 0, answer
        return answer.topics[0].topic_id

    def produce(
        self,
        topic: str,
        records: bytes | bytearray | None,
        *,
        partition: int = 0,
        acks: int = -1,
        timeout_ms: int = 10_000,
    ) -> PartitionProduceResponse:
        data = PartitionProduceData(index=partition, records=records)
        request = ProduceRequest(
            acks=acks,
            timeout_ms=timeout_ms,
            topic_data=[TopicProduceData(name=topic, partition_data=[data])],
        )
        answer = self.connection.ask(request, ProduceResponse, version=9)
        return answer.responses[0].partition_responses[0]

    def fetch_request(
        self,
        wanted: dict[tuple[str, int], int],
        *,
        session_id: int = 0,
        session_epoch: int = -1,
        forgotten: tuple[tuple[str, int], ...] = (),
        **options: int,
    ) -> FetchRequest:
        """A request of version 12, for partitions and the offsets to read them from."""
        partition_max_bytes = options.pop("partition_max_bytes", 1 << 20)
        leader_epoch = options.pop("current_leader_epoch", -1)
        topics: dict[str, FetchTopic] = {}
        for (topic, partition), offset in wanted.items():
            topics.setdefault(topic, FetchTopic(topic=topic)).partitions.append(
                FetchPartition(
                    partition=partition,
                    fetch_offset=offset,
                    partition_max_bytes=partition_max_bytes,
                    current_leader_epoch=leader_epoch,
                )
            )
        return FetchRequest(
            max_wait_ms=options.pop("max_wait_ms", 0),
            min_bytes=options.pop("min_bytes", 1),
            max_bytes=options.pop("max_bytes", 1 << 20),
            session_id=session_id,
            session_epoch=session_epoch,
            topics=list(topics.values()),
            forgotten_topics_data=[
                ForgottenTopic(topic=topic, partitions=[partition])
                for topic, partition in forgotten
            ],
            **options,
        )

    def fetch(self, wanted: dict[tuple[str, int], int], **options: int) -> FetchResponse:
        request = self.fetch_request(wanted, **options)  # type: ignore[arg-type]
        return self.connection.ask(request, FetchResponse, version=12)

    def fetch_by_id(self, topic_id: Uuid, offset: int) -> PartitionData:
        asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        topic = FetchTopic(topic_id=topic_id, partitions=[asked])
        request = FetchRequest(topics=[topic], max_bytes=1 << 20)
        answer = self.connection.ask(request, FetchResponse, version=13)
        assert answer.responses[0].topic_id != ZERO_UUID
        return answer.responses[0].partitions[0]


def data_of(response: FetchResponse) -> dict[tuple[str, int], PartitionData]:
    """What a fetch gave, by partition."""
    return {
        (topic.topic, data.partition_index): data
        for topic in response.responses
        for data in topic.partitions
    }
