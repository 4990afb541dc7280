"""One Apache Kafka for all tests of this folder that compare with it."""

import time
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tools.apache_kafka import ApacheKafka

from kbroker.records import build_batch
from tests.records.raw_produce import produce
from tests.records.samples import RECORDS, with_fields

TOPICS = ("checked", "built")
INVALID_RECORD = 87


@pytest.fixture(scope="session")
def apache_kafka() -> Iterator[ApacheKafka]:
    properties = {"log.retention.ms": "-1", "message.max.bytes": str(32 * 1024 * 1024)}
    with ApacheKafka(properties=properties, heap="512m") as kafka:
        admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
        created = admin.create_topics([NewTopic(topic, 1, 1) for topic in TOPICS])
        for topic, result in created.items():
            result.result(30)
            wait_for_leader(kafka, topic)
        yield kafka


def wait_for_leader(kafka: ApacheKafka, topic: str) -> None:
    """Wait until the topic's leader leads: it is made some moments after the topic.

    A batch that only the leader's log refuses tells, and leaves nothing behind.
    """
    probe = bytes(with_fields(build_batch(RECORDS), base_offset=1))
    deadline = time.monotonic() + 30
    while (answer := produce(kafka.bootstrap, topic, probe)[0]) != INVALID_RECORD:
        assert time.monotonic() < deadline, f"{topic} still answers {answer}"
        time.sleep(0.05)
