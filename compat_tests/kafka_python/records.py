"""Records with kafka-python, in the words that all clients share; for version 3 and for 2.0."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord

from compat_tests.client import (
    BEGINNING,
    END,
    LARGE_BYTES,
    PATIENCE_S,
    READ_UNCOMMITTED,
    Received,
    Sent,
)


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


def _poll(consumer: KafkaConsumer, count: int, wait_s: float) -> list[Received]:
    received: list[Received] = []
    deadline = time.monotonic() + wait_s
    while len(received) < count and time.monotonic() < deadline:
        polled = consumer.poll(timeout_ms=200)
        received += [_received(record) for records in polled.values() for record in records]
    return received


def send(producer: KafkaProducer, topic: str, records: Sequence[Sent]) -> list[int]:
    """Give all to a producer and wait for all."""
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
    producer.flush(PATIENCE_S)
    return [future.get(PATIENCE_S).offset for future in futures]


class KafkaPythonClient:
    """KafkaProducer and KafkaConsumer."""

    # Idempotence is the default of version 3.
    _plain: Mapping[str, object] = {"enable_idempotence": False}

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
        configs: dict[str, object] = {"enable_idempotence": True} if idempotent else self._plain
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks=acks if acks == "all" else int(acks),
            compression_type=None if compression == "none" else compression,
            max_request_size=LARGE_BYTES,
            linger_ms=50,
            **configs,
        )
        with closing(producer):
            return send(producer, topic, records)

    def consume(
        self,
        topic: str,
        count: int,
        *,
        start: int | str = BEGINNING,
        partition: int = 0,
        isolation: str = READ_UNCOMMITTED,
        wait_s: float = PATIENCE_S,
    ) -> list[Received]:
        # Versions before 2.1 do not know isolation levels.
        configs = {} if isolation == READ_UNCOMMITTED else {"isolation_level": isolation}
        with closing(self._consumer(auto_offset_reset="none", **configs)) as consumer:
            assigned = TopicPartition(topic, partition)
            consumer.assign([assigned])
            if start == BEGINNING:
                consumer.seek_to_beginning(assigned)
            elif start == END:
                consumer.seek_to_end(assigned)
            else:
                consumer.seek(assigned, start)
            return _poll(consumer, count, wait_s)

    def consume_in_group(self, group: str, topic: str, count: int) -> list[Received]:
        configs = {"group_id": group, "auto_offset_reset": "earliest"}
        with closing(self._consumer(**configs)) as consumer:
            consumer.subscribe([topic])
            received = _poll(consumer, count, PATIENCE_S)
            consumer.commit()
            return received

    def watermarks(self, topic: str, partition: int = 0) -> tuple[int, int]:
        asked = TopicPartition(topic, partition)
        with closing(self._consumer()) as consumer:
            return consumer.beginning_offsets([asked])[asked], consumer.end_offsets([asked])[asked]

    def offset_for_time(self, topic: str, timestamp_ms: int) -> int | None:
        asked = TopicPartition(topic, 0)
        with closing(self._consumer()) as consumer:
            found = consumer.offsets_for_times({asked: timestamp_ms})[asked]
            return None if found is None else found.offset

    def _consumer(self, **configs: str) -> KafkaConsumer:
        return KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            enable_auto_commit=False,
            max_partition_fetch_bytes=LARGE_BYTES,
            **configs,
        )
