"""What librdkafka does and others do not, or do otherwise."""

import threading
import time

import confluent_kafka
import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    IsolationLevel,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from compat_tests.client import Sent
from compat_tests.confluent_kafka import VERSION
from compat_tests.confluent_kafka.adapter import ConfluentAdmin, ConfluentClient
from compat_tests.scenarios.stage import EARLIER_MS, numbered

TIMEOUT_S = 20.0


def test_this_is_the_pinned_version():
    assert confluent_kafka.__version__ == VERSION


def test_offsets_are_listed_by_every_kind_of_place(
    client: ConfluentClient, admin: ConfluentAdmin, topic: str
):
    # The newest record is not the last one.
    client.produce(topic, [Sent(b"a", timestamp_ms=EARLIER_MS + n) for n in (0, 9, 3)])

    def listed(spec: OffsetSpec, isolation: IsolationLevel) -> int:
        asked = {TopicPartition(topic, 0): spec}
        [future] = admin.admin.list_offsets(asked, isolation_level=isolation).values()
        return future.result(TIMEOUT_S).offset

    for isolation in (IsolationLevel.READ_UNCOMMITTED, IsolationLevel.READ_COMMITTED):
        assert listed(OffsetSpec.earliest(), isolation) == 0
        assert listed(OffsetSpec.latest(), isolation) == 3
        assert listed(OffsetSpec.max_timestamp(), isolation) == 1
        assert listed(OffsetSpec.for_timestamp(EARLIER_MS + 1), isolation) == 1


def test_topics_are_described_with_their_ids(admin: ConfluentAdmin, topic: str):
    admin.create_topic(topic, partitions=2)

    [future] = admin.admin.describe_topics(TopicCollection([topic])).values()
    described = future.result(TIMEOUT_S)
    assert described.name == topic
    assert not described.is_internal
    assert [partition.id for partition in described.partitions] == [0, 1]
    assert [partition.leader.id for partition in described.partitions] == [1, 1]
    assert str(described.topic_id)


def test_a_topic_is_checked_without_being_created(admin: ConfluentAdmin, topic: str):
    new = NewTopic(topic, 1, 1)
    assert admin.admin.create_topics([new], validate_only=True)[topic].result(TIMEOUT_S) is None

    assert topic not in admin.topics()


def test_lists_are_extended_and_configs_go_back_to_their_defaults(
    admin: ConfluentAdmin, topic: str
):
    admin.create_topic(topic)

    def alter(name: str, value: str | None, operation: AlterConfigOpType) -> None:
        entry = ConfigEntry(name, value, incremental_operation=operation)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        admin.admin.incremental_alter_configs([resource])[resource].result(TIMEOUT_S)

    alter("cleanup.policy", "compact", AlterConfigOpType.APPEND)
    assert admin.topic_configs(topic)["cleanup.policy"] == "delete,compact"
    alter("cleanup.policy", "delete", AlterConfigOpType.SUBTRACT)
    assert admin.topic_configs(topic)["cleanup.policy"] == "compact"
    alter("cleanup.policy", None, AlterConfigOpType.DELETE)
    assert admin.topic_configs(topic)["cleanup.policy"] == "delete"


def test_configs_say_where_they_come_from(admin: ConfluentAdmin, topic: str):
    """MirrorMaker copies a config or deletes it, depending on this."""
    admin.create_topic(topic, configs={"retention.ms": "3600000"})
    resource = ConfigResource(ResourceType.TOPIC, topic)
    entries = admin.admin.describe_configs([resource])[resource].result(TIMEOUT_S)

    sources = {name: ConfigSource(entry.source) for name, entry in entries.items()}
    assert sources["retention.ms"] == ConfigSource.DYNAMIC_TOPIC_CONFIG
    assert sources["max.message.bytes"] == ConfigSource.STATIC_BROKER_CONFIG
    assert sources["segment.bytes"] == ConfigSource.DEFAULT_CONFIG


def test_an_offset_out_of_range_is_an_error_where_no_reset_is_wanted(
    client: ConfluentClient, bootstrap: str, topic: str
):
    client.produce(topic, numbered(3))
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "nobody", "auto.offset.reset": "error"}
    )
    consumer.assign([TopicPartition(topic, 0, 100)])
    message = consumer.poll(TIMEOUT_S)
    consumer.close()

    assert message is not None
    assert message.error().name() == "_AUTO_OFFSET_RESET"


def test_the_end_of_a_partition_is_told(client: ConfluentClient, bootstrap: str, topic: str):
    client.produce(topic, numbered(2))
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "nobody",
            "enable.partition.eof": True,
            # Else closing would commit, and wait for a coordinator to do so.
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    messages = [consumer.poll(TIMEOUT_S) for _ in range(3)]
    consumer.close()

    assert [message.offset() for message in messages] == [0, 1, 2]
    assert messages[2].error().name() == "_PARTITION_EOF"


def test_a_topic_that_is_not_there_cannot_be_deleted(admin: ConfluentAdmin, topic: str):
    with pytest.raises(KafkaException) as refused:
        admin.delete_topic(topic)

    assert refused.value.args[0].name() == "UNKNOWN_TOPIC_OR_PART"


def test_a_waiting_fetch_returns_as_soon_as_a_record_arrives(client: ConfluentClient, topic: str):
    client.produce(topic, numbered(1))
    with client.tail(topic, fetch_max_wait_ms=20_000, start=1) as tail:
        assert tail.poll(1.0) == []  # the fetch is on its way and waits at the broker
        began_at = time.monotonic()
        producing = threading.Timer(0.3, client.produce, (topic, numbered(1)))
        producing.start()
        received = []
        while not received and time.monotonic() < began_at + 19:
            received = tail.poll(1.0)
        waited_s = time.monotonic() - began_at
        producing.join()

    assert [record.offset for record in received] == [1]
    # Far below the 20 seconds of the fetch, far above what a busy machine needs.
    assert waited_s < 10
