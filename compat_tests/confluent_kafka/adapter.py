"""confluent-kafka in the words that all clients share."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from compat_tests.client import BEGINNING, END, Received, Sent

_TIMEOUT_S = 20.0
_LARGE_BYTES = 12_000_000
_STARTS = {BEGINNING: OFFSET_BEGINNING, END: OFFSET_END}


def _received(message: Message) -> Received:
    timestamp_type, timestamp_ms = message.timestamp()
    return Received(
        message.offset(),
        message.value(),
        message.key(),
        tuple(message.headers() or ()),
        timestamp_ms,
        timestamp_type - 1,  # librdkafka's 0 is "no timestamp"
        message.partition(),
    )


class ConfluentTail:
    """A consumer with one partition."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer

    def poll(self, timeout_s: float) -> list[Received]:
        message = self._consumer.poll(timeout_s)
        if message is None:
            return []
        if message.error():
            raise KafkaException(message.error())
        return [_received(message)]


class ConfluentClient:
    """Producers and consumers of librdkafka."""

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
        producer = Producer(
            {
                "bootstrap.servers": self._bootstrap,
                "acks": acks,
                "compression.type": compression,
                "enable.idempotence": idempotent,
                "message.max.bytes": _LARGE_BYTES,
                "linger.ms": 50,
                "message.timeout.ms": int(_TIMEOUT_S * 1000),
            }
        )
        reports: list[tuple[object, Message]] = []
        for sent in records:
            producer.produce(
                topic,
                sent.value,
                sent.key,
                sent.partition,
                on_delivery=lambda error, message: reports.append((error, message)),
                timestamp=sent.timestamp_ms or 0,
                headers=list(sent.headers),
            )
        assert producer.flush(_TIMEOUT_S) == 0
        assert len(reports) == len(records)
        for error, _ in reports:
            if error is not None:
                raise KafkaException(error)
        return [message.offset() for _, message in reports]

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
    ) -> Iterator[ConfluentTail]:
        with self._consumer({"fetch.wait.max.ms": fetch_max_wait_ms}) as consumer:
            offset = _STARTS[start] if isinstance(start, str) else start
            consumer.assign([TopicPartition(topic, partition, offset)])
            yield ConfluentTail(consumer)

    def watermarks(self, topic: str, partition: int = 0) -> tuple[int, int]:
        with self._consumer({}) as consumer:
            low, high = consumer.get_watermark_offsets(
                TopicPartition(topic, partition), timeout=_TIMEOUT_S
            )
            return low, high

    def offset_for_time(self, topic: str, timestamp_ms: int) -> int | None:
        with self._consumer({}) as consumer:
            [found] = consumer.offsets_for_times(
                [TopicPartition(topic, 0, timestamp_ms)], timeout=_TIMEOUT_S
            )
            return None if found.offset == OFFSET_END else found.offset

    @contextmanager
    def _consumer(self, configs: Mapping[str, int]) -> Iterator[Consumer]:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                # librdkafka wants a name even from those who never join.
                "group.id": "nobody",
                "enable.auto.commit": False,
                "fetch.message.max.bytes": _LARGE_BYTES,
                "check.crcs": True,
                **configs,
            }
        )
        try:
            yield consumer
        finally:
            consumer.close()


class ConfluentAdmin:
    """librdkafka's admin client."""

    def __init__(self, bootstrap: str) -> None:
        self.admin = AdminClient({"bootstrap.servers": bootstrap})

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        new = NewTopic(topic, partitions, 1, config=dict(configs or {}))
        self.admin.create_topics([new])[topic].result(_TIMEOUT_S)

    def delete_topic(self, topic: str) -> None:
        self.admin.delete_topics([topic])[topic].result(_TIMEOUT_S)

    def topics(self) -> set[str]:
        return set(self.admin.list_topics(timeout=_TIMEOUT_S).topics)

    def leaders(self, topic: str) -> dict[int, int]:
        partitions = self.admin.list_topics(topic, timeout=_TIMEOUT_S).topics[topic].partitions
        return {number: partition.leader for number, partition in partitions.items()}

    def create_partitions(self, topic: str, total: int) -> None:
        self.admin.create_partitions([NewPartitions(topic, total)])[topic].result(_TIMEOUT_S)

    def topic_configs(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        entries = self.admin.describe_configs([resource])[resource].result(_TIMEOUT_S)
        return {name: entry.value for name, entry in entries.items()}

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        self.admin.incremental_alter_configs([resource])[resource].result(_TIMEOUT_S)

    def delete_records(self, topic: str, before_offset: int) -> int:
        partition = TopicPartition(topic, 0, before_offset)
        low_watermark: int = (
            self.admin.delete_records([partition])[partition].result(_TIMEOUT_S).low_watermark
        )
        return low_watermark

    def cluster(self) -> tuple[str, int, list[int]]:
        described = self.admin.describe_cluster().result(_TIMEOUT_S)
        return (
            described.cluster_id,
            described.controller.id,
            [node.id for node in described.nodes],
        )
