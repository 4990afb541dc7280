"""kafka-python in the words that all clients share."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.consumer.fetcher import ConsumerRecord

from compat_tests.client import BEGINNING, END, CompatError, Received, Sent

_TIMEOUT_S = 20.0
_LARGE_BYTES = 12_000_000


def _received(record: ConsumerRecord) -> Received:
    return Received(
        record.offset,
        record.value,
        record.key,
        tuple(record.headers),
        record.timestamp,
        record.timestamp_type,
        record.partition,
    )


class KafkaPythonTail:
    """A consumer with one partition."""

    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer

    def poll(self, timeout_s: float) -> list[Received]:
        polled = self._consumer.poll(timeout_ms=int(timeout_s * 1000))
        return [_received(record) for records in polled.values() for record in records]


class KafkaPythonClient:
    """KafkaProducer and KafkaConsumer."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def produce(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        acks: str = "all",
        compression: str = "none",
        idempotent: bool = False,
    ) -> list[int]:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks=acks if acks == "all" else int(acks),
            compression_type=None if compression == "none" else compression,
            enable_idempotence=idempotent,
            max_request_size=_LARGE_BYTES,
            linger_ms=50,
        )
        with closing(producer):
            futures = [
                producer.send(
                    topic,
                    value=sent.value,
                    key=sent.key,
                    headers=list(sent.headers),
                    partition=sent.partition,
                    timestamp_ms=sent.timestamp_ms,
                )
                for sent in records
            ]
            producer.flush(_TIMEOUT_S)
            return [future.get(_TIMEOUT_S).offset for future in futures]

    def consume(
        self, topic: str, count: int, *, start: int | str = BEGINNING, partition: int = 0
    ) -> list[Received]:
        received: list[Received] = []
        with self.tail(topic, fetch_max_wait_ms=500, start=start, partition=partition) as tail:
            deadline = time.monotonic() + _TIMEOUT_S
            while len(received) < count and time.monotonic() < deadline:
                received += tail.poll(1.0)
        return received

    @contextmanager
    def tail(
        self, topic: str, *, fetch_max_wait_ms: int, start: int | str, partition: int = 0
    ) -> Iterator[KafkaPythonTail]:
        with closing(self._consumer(fetch_max_wait_ms=fetch_max_wait_ms)) as consumer:
            assigned = TopicPartition(topic, partition)
            consumer.assign([assigned])
            if start == BEGINNING:
                consumer.seek_to_beginning(assigned)
            elif start == END:
                consumer.seek_to_end(assigned)
            else:
                consumer.seek(assigned, start)
            yield KafkaPythonTail(consumer)

    def watermarks(self, topic: str, partition: int = 0) -> tuple[int, int]:
        asked = TopicPartition(topic, partition)
        with closing(self._consumer()) as consumer:
            return consumer.beginning_offsets([asked])[asked], consumer.end_offsets([asked])[asked]

    def offset_for_time(self, topic: str, timestamp_ms: int) -> int | None:
        asked = TopicPartition(topic, 0)
        with closing(self._consumer()) as consumer:
            found = consumer.offsets_for_times({asked: timestamp_ms})[asked]
            return None if found is None else found.offset

    def _consumer(self, fetch_max_wait_ms: int = 500) -> KafkaConsumer:
        return KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            enable_auto_commit=False,
            max_partition_fetch_bytes=_LARGE_BYTES,
            fetch_max_wait_ms=fetch_max_wait_ms,
        )


class KafkaPythonAdmin:
    """KafkaAdminClient."""

    def __init__(self, admin: KafkaAdminClient) -> None:
        self.admin = admin

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        wanted = {
            "num_partitions": partitions,
            "replication_factor": 1,
            "configs": dict(configs or {}),
        }
        self.admin.create_topics({topic: wanted})

    def delete_topic(self, topic: str) -> None:
        self.admin.delete_topics([topic])

    def topics(self) -> set[str]:
        return set(self.admin.list_topics())

    def leaders(self, topic: str) -> dict[int, int]:
        [described] = self.admin.describe_topics([topic])
        return {each["partition_index"]: each["leader_id"] for each in described["partitions"]}

    def create_partitions(self, topic: str, total: int) -> None:
        self.admin.create_partitions({topic: total})

    def topic_configs(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        described = self.admin.describe_configs([resource], config_filter="all")["topic"][topic]
        return {name: entry["value"] for name, entry in described.items()}

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {name: value})
        answer = self.admin.alter_configs([resource])["topic"][topic]
        if answer != "OK":
            raise CompatError(answer)

    def delete_records(self, topic: str, before_offset: int) -> int:
        partition = TopicPartition(topic, 0)
        answer = self.admin.delete_records({partition: before_offset})
        low_watermark: int = answer[partition]["low_watermark"]
        return low_watermark

    def cluster(self) -> tuple[str, int, list[int]]:
        described = self.admin.describe_cluster()
        brokers = [broker["broker_id"] for broker in described["brokers"]]
        return described["cluster_id"], described["controller_id"], brokers
