"""A data directory that Apache Kafka wrote is served as Kafka served it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tools.apache_kafka import ApacheKafka

from kbroker.client.cluster import Cluster
from kbroker.client.topics import EARLIEST, LATEST, list_offsets
from tests.scenarios.broker_process import BrokerProcess

pytestmark = [pytest.mark.java, pytest.mark.slow]

TOPICS = {"orders": 3, "with.dots_and-dashes-7": 1, "empty": 2}
# (topic, partition, offset) and key, value, timestamp, headers.
Records = dict[tuple[str, int, int], tuple[object, ...]]


@pytest.fixture
def kafka() -> Iterator[ApacheKafka]:
    with ApacheKafka(heap="512m") as running:
        yield running


def fill(bootstrap: str) -> None:
    """Records of all kinds: keys, headers, every compression and null values."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = [NewTopic(name, count, 1) for name, count in TOPICS.items()]
    for future in admin.create_topics(wanted).values():
        future.result(30)
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        settings = {"bootstrap.servers": bootstrap, "compression.type": codec, "linger.ms": 5}
        producer = Producer({**settings, "enable.idempotence": True})
        for number in range(300):
            value = None if number % 50 == 0 else b"%s %d " % (codec.encode(), number) * 20
            producer.produce(
                "orders", value, b"key %d" % number, headers=[("codec", codec.encode())]
            )
            producer.produce("with.dots_and-dashes-7", value, timestamp=1_700_000_000_000 + number)
        assert producer.flush(30) == 0


def read_all(bootstrap: str) -> Records:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused"})
    found: Records = {}
    ends = {}
    try:
        for topic, count in TOPICS.items():
            for partition in range(count):
                place = TopicPartition(topic, partition, 0)
                ends[topic, partition] = consumer.get_watermark_offsets(place, timeout=20)[1]
        places = [TopicPartition(topic, partition, 0) for topic, partition in ends]
        consumer.assign(places)
        while len(found) < sum(ends.values()):
            message = consumer.poll(20)
            assert message is not None, f"{len(found)} of {ends} are served"
            assert message.error() is None
            found[message.topic(), message.partition(), message.offset()] = (
                message.key(),
                message.value(),
                message.timestamp(),
                tuple(message.headers() or ()),
            )
    finally:
        consumer.close()
    return found


def offsets_of(bootstrap: str) -> dict[tuple[str, int], dict[int, int]]:
    """What ListOffsets says of both ends and of a time, for every topic."""
    with Cluster(bootstrap) as cluster:
        return {
            (topic, timestamp): list_offsets(cluster, topic, dict.fromkeys(range(count), timestamp))
            for topic, count in TOPICS.items()
            for timestamp in (EARLIEST, LATEST, 1_700_000_000_100)
        }


def ids_of(bootstrap: str) -> dict[str, bytes]:
    with Cluster(bootstrap) as cluster:
        topics = cluster.metadata(list(TOPICS)).topics
        return {topic.name or "": topic.topic_id for topic in topics}


@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_topics_records_and_offsets_are_as_kafka_had_them(
    kafka: ApacheKafka, tmp_path: Path, ending: str
):
    fill(kafka.bootstrap)
    records, offsets, ids = (
        read_all(kafka.bootstrap),
        offsets_of(kafka.bootstrap),
        ids_of(kafka.bootstrap),
    )
    assert len(records) == 2 * 5 * 300
    kafka.stop() if ending == "stopped" else kafka.kill()

    with BrokerProcess(tmp_path, data_dir=kafka.log_dir) as broker:
        assert ids_of(broker.bootstrap) == ids
        assert offsets_of(broker.bootstrap) == offsets
        assert read_all(broker.bootstrap) == records

        # It goes on where Kafka stopped, and finds everything again after a crash of its own.
        end = offsets["with.dots_and-dashes-7", LATEST][0]
        producer = Producer({"bootstrap.servers": broker.bootstrap, "enable.idempotence": True})
        producer.produce("with.dots_and-dashes-7", b"ours")
        assert producer.flush(30) == 0
        broker.kill()
        broker.start()
        after = read_all(broker.bootstrap)
        assert after.pop(("with.dots_and-dashes-7", 0, end))[1] == b"ours"
        assert after == records
        broker.stop()
    assert "Traceback" not in broker.stderr
