"""aiokafka in the words that all clients share.

Every call runs an event loop of its own; a tail keeps its loop until it is closed. The admin client
gives responses with error codes in them, which become errors here.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka import admin as aiokafka_admin
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import for_code

from compat_tests.client import (
    BEGINNING,
    END,
    LARGE_BYTES,
    PATIENCE_S,
    READ_UNCOMMITTED,
    Received,
    Sent,
)

_Result = TypeVar("_Result")


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


def _refuse(code: int, message: str | None = None) -> None:
    if code != 0:
        raise for_code(code)(message)


async def _poll(consumer: AIOKafkaConsumer, count: int, wait_s: float) -> list[Received]:
    received: list[Received] = []
    deadline = time.monotonic() + wait_s
    while len(received) < count and time.monotonic() < deadline:
        polled = await consumer.getmany(timeout_ms=200)
        received += [_received(record) for records in polled.values() for record in records]
    return received


async def _send(producer: AIOKafkaProducer, topic: str, records: Sequence[Sent]) -> list[int]:
    futures = [
        await producer.send(
            topic,
            sent.value,
            sent.key,
            sent.partition,
            sent.timestamp_ms,
            list(sent.headers),
        )
        for sent in records
    ]
    metadata = await asyncio.wait_for(asyncio.gather(*futures), PATIENCE_S)
    return [-1 if each is None else each.offset for each in metadata]


class AiokafkaClient:
    """AIOKafkaProducer and AIOKafkaConsumer."""

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
        async def run() -> list[int]:
            producer = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap,
                acks=acks if acks == "all" else int(acks),
                compression_type=None if compression == "none" else compression,
                enable_idempotence=idempotent,
                max_request_size=LARGE_BYTES,
                linger_ms=50,
            )
            async with producer:
                return await _send(producer, topic, records)

        return asyncio.run(run())

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
        async def ask(consumer: AIOKafkaConsumer) -> list[Received]:
            assigned = TopicPartition(topic, partition)
            consumer.assign([assigned])
            if start == BEGINNING:
                await consumer.seek_to_beginning(assigned)
            elif start == END:
                await consumer.seek_to_end(assigned)
            else:
                consumer.seek(assigned, start)
            return await _poll(consumer, count, wait_s)

        return self._with_consumer(ask, auto_offset_reset="none", isolation_level=isolation)

    def consume_in_group(self, group: str, topic: str, count: int) -> list[Received]:
        async def ask(consumer: AIOKafkaConsumer) -> list[Received]:
            consumer.subscribe([topic])
            received = await _poll(consumer, count, PATIENCE_S)
            await consumer.commit()
            return received

        return self._with_consumer(ask, group_id=group, auto_offset_reset="earliest")

    def watermarks(self, topic: str, partition: int = 0) -> tuple[int, int]:
        asked = TopicPartition(topic, partition)

        async def ask(consumer: AIOKafkaConsumer) -> tuple[int, int]:
            first = await consumer.beginning_offsets([asked])
            next_ = await consumer.end_offsets([asked])
            return first[asked], next_[asked]

        return self._with_consumer(ask)

    def offset_for_time(self, topic: str, timestamp_ms: int) -> int | None:
        asked = TopicPartition(topic, 0)

        async def ask(consumer: AIOKafkaConsumer) -> int | None:
            found = (await consumer.offsets_for_times({asked: timestamp_ms}))[asked]
            return None if found is None else found.offset

        return self._with_consumer(ask)

    def _with_consumer(
        self, ask: Callable[[AIOKafkaConsumer], Awaitable[_Result]], **configs: str
    ) -> _Result:
        async def run() -> _Result:
            consumer = AIOKafkaConsumer(
                bootstrap_servers=self._bootstrap,
                enable_auto_commit=False,
                max_partition_fetch_bytes=LARGE_BYTES,
                **configs,
            )
            async with consumer:
                return await ask(consumer)

        return asyncio.run(run())


class AiokafkaTransactions:
    """Producers with a transactional id, by the names that scenarios give them, in one loop."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._loop = asyncio.Runner()
        self._producers: dict[str, AIOKafkaProducer] = {}

    def begin(
        self, producer: str, transactional_id: str, topic: str, records: Sequence[Sent]
    ) -> None:
        async def run() -> None:
            opened = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap, transactional_id=transactional_id
            )
            self._producers[producer] = opened
            await opened.start()
            await opened.begin_transaction()
            await _send(opened, topic, records)

        self._loop.run(run())

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

        async def run() -> None:
            try:
                if group is not None:
                    position = {TopicPartition(topic, 0): offset}
                    await ending.send_offsets_to_transaction(position, group)
                if commit:
                    await ending.commit_transaction()
                else:
                    await ending.abort_transaction()
            finally:
                await ending.stop()

        self._loop.run(run())


class AiokafkaAdmin:
    """AIOKafkaAdminClient."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        new = NewTopic(topic, partitions, 1, topic_configs=dict(configs or {}))
        answer = self.ask(lambda admin: admin.create_topics([new]))
        for _, code, message in answer.topic_errors:
            _refuse(code, message)

    def delete_topic(self, topic: str) -> None:
        answer = self.ask(lambda admin: admin.delete_topics([topic]))
        for _, code in answer.topic_error_codes:
            _refuse(code)

    def topics(self) -> set[str]:
        return set(self.ask(lambda admin: admin.list_topics()))

    def leaders(self, topic: str) -> dict[int, int]:
        [described] = self.ask(lambda admin: admin.describe_topics([topic]))
        return {each["partition"]: each["leader"] for each in described["partitions"]}

    def create_partitions(self, topic: str, total: int) -> None:
        self.ask(lambda admin: admin.create_partitions({topic: NewPartitions(total)}))

    def topic_configs(self, topic: str) -> dict[str, str | None]:
        return {name: value for name, value, *_ in self._described_configs(topic)}

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        """AlterConfigs replaces all configs, so those that were set must be given again."""
        dynamic_topic_config = 1
        configs = {
            set_name: set_value
            for set_name, set_value, _, source, *_ in self._described_configs(topic)
            if source == dynamic_topic_config
        }
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, {**configs, name: value})
        [answer] = self.ask(lambda admin: admin.alter_configs([resource]))
        for code, message, *_ in answer.resources:
            _refuse(code, message)

    def delete_records(self, topic: str, before_offset: int) -> int:
        partition = TopicPartition(topic, 0)
        wanted = {partition: aiokafka_admin.RecordsToDelete(before_offset)}
        return self.ask(lambda admin: admin.delete_records(wanted))[partition]

    def cluster(self) -> tuple[str, int, list[int]]:
        described = self.ask(lambda admin: admin.describe_cluster())
        brokers = [broker["node_id"] for broker in described["brokers"]]
        return described["cluster_id"], described["controller_id"], brokers

    def ask(self, question: Callable[[AIOKafkaAdminClient], Awaitable[_Result]]) -> _Result:
        """Put one question to an admin client of its own."""

        async def run() -> _Result:
            admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
            await admin.start()
            try:
                return await question(admin)
            finally:
                await admin.close()

        return asyncio.run(run())

    def _described_configs(self, topic: str) -> list[tuple[str, str | None, bool, int]]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        [answer] = self.ask(lambda admin: admin.describe_configs([resource]))
        [(code, message, _, _, entries, *_)] = answer.resources
        _refuse(code, message)
        return entries

    def groups(self) -> set[str]:
        return {name for name, *_ in self.ask(lambda admin: admin.list_consumer_groups())}

    def group_offsets(self, group: str, topic: str) -> dict[int, int]:
        found = self.ask(lambda admin: admin.list_consumer_group_offsets(group))
        return {each.partition: at.offset for each, at in found.items() if each.topic == topic}


def parts(bootstrap: str) -> tuple[AiokafkaClient, AiokafkaTransactions, AiokafkaAdmin]:
    """For ``compat_tests.serve``."""
    return AiokafkaClient(bootstrap), AiokafkaTransactions(bootstrap), AiokafkaAdmin(bootstrap)
