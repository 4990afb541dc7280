"""Scenarios of administration: topics, configs, offsets and groups come, change and go."""

from compat_tests.client import BEGINNING
from compat_tests.scenarios.stage import Stage, as_received, numbered


def create(stage: Stage) -> None:
    """A topic of 3 partitions is created, then listed, and every partition has a leader."""
    stage.client.create_topic(stage.name, partitions=3)

    stage.until(lambda: stage.name in stage.client.topics())
    _, _, [broker] = stage.helper_admin.cluster()
    stage.soon(lambda: stage.client.leaders(stage.name), dict.fromkeys(range(3), broker))


def describe_configs(stage: Stage) -> None:
    """Configs given at creation are described among the defaults."""
    stage.client.create_topic(
        stage.name, configs={"cleanup.policy": "compact", "retention.ms": "3600000"}
    )

    stage.until(lambda: bool(stage.client.topic_configs(stage.name)))
    configs = stage.client.topic_configs(stage.name)
    assert configs["cleanup.policy"] == "compact"
    assert configs["retention.ms"] == "3600000"
    assert configs["segment.bytes"] == "1073741824"
    # The brokers of these tests are started with this one.
    assert configs["max.message.bytes"] == "16777216"


def alter_configs(stage: Stage) -> None:
    """An altered config is described, the others stay, and the broker goes by it."""
    topic = stage.new_topic(retention_ms="3600000")
    stage.client.alter_topic_config(topic, "max.message.bytes", "100")

    stage.until(lambda: stage.client.topic_configs(topic)["max.message.bytes"] == "100")
    assert stage.client.topic_configs(topic)["retention.ms"] == "3600000"
    with stage.refused(10, r"too.?large"):
        stage.client.produce(topic, numbered(1))


def create_partitions(stage: Stage) -> None:
    """A topic grows from 1 to 4 partitions, and the new ones can be written to."""
    topic = stage.new_topic()
    stage.client.create_partitions(topic, 4)

    stage.until(lambda: set(stage.client.leaders(topic)) == {0, 1, 2, 3})
    stage.client.produce(topic, numbered(3, partition=3))
    assert stage.helper.watermarks(topic, 3) == (0, 3)


def delete(stage: Stage) -> None:
    """A deleted topic is not listed any more, and its name is free for an empty one."""
    topic = stage.new_topic()
    stage.client.produce(topic, numbered(5))
    stage.client.delete_topic(topic)

    stage.until(lambda: topic not in stage.client.topics())
    stage.client.create_topic(topic)
    stage.soon(lambda: stage.helper.watermarks(topic), (0, 0))


def delete_records(stage: Stage) -> None:
    """Of 20 records, those before offset 12 are deleted: reading begins at 12."""
    topic = stage.new_topic()
    stage.client.produce(topic, numbered(20))

    assert stage.client.delete_records(topic, 12) == 12
    assert stage.helper.watermarks(topic) == (12, 20)
    received = stage.client.consume(topic, 8, start=BEGINNING)
    assert received == as_received(numbered(20))[12:]


def cluster(stage: Stage) -> None:
    """The cluster has an id, and its only broker is the controller."""
    cluster_id, controller, brokers = stage.client.cluster()

    assert len(cluster_id) == 22  # a uuid in base64
    assert brokers == [controller]


def groups(stage: Stage) -> None:
    """A group is listed, its committed offsets are told, and when it is empty it is deleted."""
    topic = stage.new_topic()
    stage.helper.produce(topic, numbered(10))
    stage.helper.consume_in_group(stage.name, topic, 10)

    assert stage.name in stage.client.groups()
    assert stage.client.group_offsets(stage.name, topic) == {0: 10}
    stage.client.delete_group(stage.name)
    stage.until(lambda: stage.name not in stage.client.groups())
