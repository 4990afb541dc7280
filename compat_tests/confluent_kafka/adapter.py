"""confluent-kafka in the words that all clients share."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    ConsumerGroupTopicPartitions,
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

from compat_tests.client import (
    BEGINNING,
    END,
    LARGE_BYTES,
    PATIENCE_S,
    READ_UNCOMMITTED,
    Received,
    Sent,
)

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


def _poll(tail: ConfluentTail, count: int, wait_s: float) -> list[Received]:
    received: list[Received] = []
    deadline = time.monotonic() + wait_s
    while len(received) < count and time.monotonic() < deadline:
        received += tail.poll(0.2)
    return received


def _send(producer: Producer, topic: str, records: Sequence[Sent]) -> list[int]:
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
    assert producer.flush(PATIENCE_S) == 0
    assert len(reports) == len(records)
    for error, _ in reports:
        if error is not None:
            raise KafkaException(error)
    return [message.offset() for _, message in reports]


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
                "message.max.bytes": LARGE_BYTES,
                "linger.ms": 50,
                "message.timeout.ms": int(PATIENCE_S * 1000),
            }
        )
        return _send(producer, topic, records)

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
        with self.tail(topic, start=start, partition=partition, isolation=isolation) as tail:
            return _poll(tail, count, wait_s)

    def consume_in_group(self, group: str, topic: str, count: int) -> list[Received]:
        configs = {"group.id": group, "auto.offset.reset": "earliest"}
        with self._consumer(configs) as consumer:
            consumer.subscribe([topic])
            received = _poll(ConfluentTail(consumer), count, PATIENCE_S)
            if received:
                consumer.commit(asynchronous=False)
            return received

    @contextmanager
    def tail(
        self,
        topic: str,
        *,
        start: int | str,
        partition: int = 0,
        fetch_max_wait_ms: int = 500,
        isolation: str = READ_UNCOMMITTED,
    ) -> Iterator[ConfluentTail]:
        """A consumer of one partition whose fetches wait up to that long for data."""
        configs = {"fetch.wait.max.ms": fetch_max_wait_ms, "isolation.level": isolation}
        with self._consumer(configs) as consumer:
            offset = _STARTS[start] if isinstance(start, str) else start
            consumer.assign([TopicPartition(topic, partition, offset)])
            yield ConfluentTail(consumer)

    def watermarks(self, topic: str, partition: int = 0) -> tuple[int, int]:
        with self._consumer({}) as consumer:
            low, high = consumer.get_watermark_offsets(
                TopicPartition(topic, partition), timeout=PATIENCE_S
            )
            return low, high

    def offset_for_time(self, topic: str, timestamp_ms: int) -> int | None:
        with self._consumer({}) as consumer:
            [found] = consumer.offsets_for_times(
                [TopicPartition(topic, 0, timestamp_ms)], timeout=PATIENCE_S
            )
            return None if found.offset == OFFSET_END else found.offset

    @contextmanager
    def _consumer(self, configs: Mapping[str, int | str]) -> Iterator[Consumer]:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                # librdkafka wants a name even from those who never join.
                "group.id": "nobody",
                "enable.auto.commit": False,
                "fetch.message.max.bytes": LARGE_BYTES,
                "check.crcs": True,
                "auto.offset.reset": "error",
                **configs,
            }
        )
        try:
            yield consumer
        finally:
            consumer.close()


class ConfluentTransactions:
    """Producers with a transactional id, by the names that scenarios give them."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._producers: dict[str, Producer] = {}

    def begin(
        self, producer: str, transactional_id: str, topic: str, records: Sequence[Sent]
    ) -> None:
        opened = Producer(
            {"bootstrap.servers": self._bootstrap, "transactional.id": transactional_id}
        )
        opened.init_transactions(PATIENCE_S)
        opened.begin_transaction()
        _send(opened, topic, records)
        self._producers[producer] = opened

    def end(
        self,
        producer: str,
        *,
        commit: bool,
        group: str | None = None,
        topic: str | None = None,
        offset: int | None = None,
    ) -> None:
        ending = self._producers.pop(producer)
        if group is not None:
            consumer = Consumer({"bootstrap.servers": self._bootstrap, "group.id": group})
            position = TopicPartition(topic, 0, offset)
            ending.send_offsets_to_transaction([position], consumer.consumer_group_metadata())
            consumer.close()
        if commit:
            ending.commit_transaction(PATIENCE_S)
        else:
            ending.abort_transaction(PATIENCE_S)


class ConfluentAdmin:
    """librdkafka's admin client."""

    def __init__(self, bootstrap: str) -> None:
        # Level 4 is warnings: below it, admin clients tell of events they threw away when closed.
        self.admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 4})

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        new = NewTopic(topic, partitions, 1, config=dict(configs or {}))
        self.admin.create_topics([new])[topic].result(PATIENCE_S)

    def delete_topic(self, topic: str) -> None:
        self.admin.delete_topics([topic])[topic].result(PATIENCE_S)

    def topics(self) -> set[str]:
        return set(self.admin.list_topics(timeout=PATIENCE_S).topics)

    def leaders(self, topic: str) -> dict[int, int]:
        partitions = self.admin.list_topics(topic, timeout=PATIENCE_S).topics[topic].partitions
        return {number: partition.leader for number, partition in partitions.items()}

    def create_partitions(self, topic: str, total: int) -> None:
        self.admin.create_partitions([NewPartitions(topic, total)])[topic].result(PATIENCE_S)

    def topic_configs(self, topic: str) -> dict[str, str | None]:
        resource = ConfigResource(ResourceType.TOPIC, topic)
        entries = self.admin.describe_configs([resource])[resource].result(PATIENCE_S)
        return {name: entry.value for name, entry in entries.items()}

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        self.admin.incremental_alter_configs([resource])[resource].result(PATIENCE_S)

    def delete_records(self, topic: str, before_offset: int) -> int:
        partition = TopicPartition(topic, 0, before_offset)
        low_watermark: int = (
            self.admin.delete_records([partition])[partition].result(PATIENCE_S).low_watermark
        )
        return low_watermark

    def cluster(self) -> tuple[str, int, list[int]]:
        described = self.admin.describe_cluster().result(PATIENCE_S)
        return (
            described.cluster_id,
            described.controller.id,
            [node.id for node in described.nodes],
        )

    def groups(self) -> set[str]:
        listed = self.admin.list_consumer_groups().result(PATIENCE_S)
        assert not listed.errors, listed.errors
        return {group.group_id for group in listed.valid}

    def group_offsets(self, group: str, topic: str) -> dict[int, int]:
        asked = ConsumerGroupTopicPartitions(group)
        [future] = self.admin.list_consumer_group_offsets([asked]).values()
        found = future.result(PATIENCE_S).topic_partitions
        return {each.partition: each.offset for each in found if each.topic == topic}

    def delete_group(self, group: str) -> None:
        self.admin.delete_consumer_groups([group])[group].result(PATIENCE_S)


def parts(bootstrap: str) -> tuple[ConfluentClient, ConfluentTransactions, ConfluentAdmin]:
    """For ``compat_tests.serve``."""
    return ConfluentClient(bootstrap), ConfluentTransactions(bootstrap), ConfluentAdmin(bootstrap)
