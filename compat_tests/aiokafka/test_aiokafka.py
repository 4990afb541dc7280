"""What aiokafka does and others do not, or do otherwise."""

import asyncio

import aiokafka
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import OffsetOutOfRangeError

from compat_tests.aiokafka import VERSION
from compat_tests.aiokafka.adapter import AiokafkaAdmin, AiokafkaClient
from compat_tests.scenarios.stage import numbered


def test_this_is_the_pinned_version():
    assert aiokafka.__version__ == VERSION


def test_a_batch_built_by_hand_is_sent_as_it_is(client: AiokafkaClient, bootstrap: str, topic: str):
    async def send() -> int:
        async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
            batch = producer.create_batch()
            for n in range(10):
                batch.append(key=b"k", value=b"%d" % n, timestamp=None)
            future = await producer.send_batch(batch, topic, partition=0)
            return (await future).offset

    assert asyncio.run(send()) == 0
    assert [record.value for record in client.consume(topic, 10)] == [b"%d" % n for n in range(10)]


def test_many_tasks_share_a_producer_and_lose_nothing(
    client: AiokafkaClient, admin: AiokafkaAdmin, bootstrap: str, topic: str
):
    admin.create_topic(topic, partitions=4)

    async def send() -> None:
        async with AIOKafkaProducer(
            bootstrap_servers=bootstrap, enable_idempotence=True
        ) as producer:
            sends = [producer.send_and_wait(topic, b"%d" % n, partition=n % 4) for n in range(400)]
            await asyncio.gather(*sends)

    asyncio.run(send())
    received = [
        int(record.value)
        for partition in range(4)
        for record in client.consume(topic, 100, partition=partition)
    ]
    assert sorted(received) == list(range(400))


def test_an_offset_out_of_range_is_an_error_where_no_reset_is_wanted(
    client: AiokafkaClient, bootstrap: str, topic: str
):
    client.produce(topic, numbered(3))

    async def read() -> None:
        async with AIOKafkaConsumer(
            bootstrap_servers=bootstrap, auto_offset_reset="none"
        ) as consumer:
            consumer.assign([TopicPartition(topic, 0)])
            consumer.seek(TopicPartition(topic, 0), 100)
            await asyncio.wait_for(consumer.getone(), 20)

    with pytest.raises(OffsetOutOfRangeError):
        asyncio.run(read())


def test_the_high_watermark_comes_with_the_records(
    client: AiokafkaClient, bootstrap: str, topic: str
):
    client.produce(topic, numbered(7))

    async def read() -> tuple[int, int]:
        async with AIOKafkaConsumer(
            bootstrap_servers=bootstrap, auto_offset_reset="earliest"
        ) as consumer:
            partition = TopicPartition(topic, 0)
            consumer.assign([partition])
            await asyncio.wait_for(consumer.getone(), 20)
            return consumer.highwater(partition), consumer.last_stable_offset(partition)

    assert asyncio.run(read()) == (7, 7)
