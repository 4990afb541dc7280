"""What kafka-python does and others do not, or do otherwise."""

from contextlib import closing

import kafka
import pytest
from kafka import KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import TopicAlreadyExistsError
from kafka.protocol.consumer import OffsetSpec

from compat_tests.client import Sent
from compat_tests.kafka_python import VERSION
from compat_tests.kafka_python.adapter import KafkaPythonAdmin
from compat_tests.kafka_python.records import KafkaPythonClient
from compat_tests.scenarios.stage import EARLIER_MS, numbered


def test_this_is_the_pinned_version():
    assert kafka.__version__ == VERSION


def test_offsets_are_listed_by_every_kind_of_place(
    client: KafkaPythonClient, admin: KafkaPythonAdmin, topic: str
):
    client.produce(topic, [Sent(b"a", timestamp_ms=EARLIER_MS + n) for n in (0, 9, 3)])
    asked = TopicPartition(topic, 0)

    def listed(spec: OffsetSpec) -> int:
        return admin.admin.list_partition_offsets({asked: spec})[asked].offset

    assert listed(OffsetSpec.EARLIEST) == 0
    assert listed(OffsetSpec.LATEST) == 3
    assert listed(OffsetSpec.MAX_TIMESTAMP) == 1
    assert listed(OffsetSpec.EARLIEST_LOCAL) == 0


def test_the_producer_works_with_its_own_defaults(bootstrap: str, topic: str):
    """Idempotence and waiting for all are defaults of version 3."""
    with closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        metadata = [producer.send(topic, b"%d" % n).get(20) for n in range(3)]

    assert [each.offset for each in metadata] == [0, 1, 2]


def test_partitions_are_described_page_by_page(admin: KafkaPythonAdmin, topic: str):
    admin.create_topic(topic, partitions=5)

    described = admin.admin.describe_topic_partitions([topic], response_partition_limit=2)
    [found] = described["topics"]
    assert [each["partition_index"] for each in found["partitions"]] == [0, 1]
    assert described["next_cursor"]["partition_index"] == 2


def test_log_dirs_and_producers_are_described(
    client: KafkaPythonClient, admin: KafkaPythonAdmin, topic: str
):
    client.produce(topic, numbered(4), idempotent=True)

    [broker] = admin.admin.describe_log_dirs()
    sizes = {
        (each["name"], partition["partition_index"]): partition["partition_size"]
        for directory in broker["log_dirs"]
        for each in directory["topics"]
        for partition in each["partitions"]
    }
    assert sizes[topic, 0] > 4 * len(numbered(1)[0].value)
    [producers] = admin.admin.describe_producers([TopicPartition(topic, 0)]).values()
    assert len(producers) == 1


def test_configs_are_reset(admin: KafkaPythonAdmin, topic: str):
    admin.create_topic(topic, configs={"retention.ms": "3600000"})
    resource = ConfigResource(ConfigResourceType.TOPIC, topic, ["retention.ms"])
    assert admin.admin.reset_configs([resource])["topic"][topic] == "OK"

    assert admin.topic_configs(topic)["retention.ms"] == "604800000"


def test_errors_have_their_own_classes(admin: KafkaPythonAdmin, topic: str):
    admin.create_topic(topic)

    with pytest.raises(TopicAlreadyExistsError):
        admin.create_topic(topic)
