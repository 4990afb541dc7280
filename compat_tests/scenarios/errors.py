"""Scenarios of errors: a client can tell its user what was wrong."""

from compat_tests.client import Sent
from compat_tests.scenarios.stage import Stage, numbered


def topic_exists(stage: Stage) -> None:
    """Creating a topic that is there is refused with TOPIC_ALREADY_EXISTS."""
    topic = stage.new_topic()

    with stage.refused(36, r"already.?exists"):
        stage.client.create_topic(topic)


def unknown_topic(stage: Stage) -> None:
    """Deleting a topic that is not there is refused with UNKNOWN_TOPIC_OR_PARTITION."""
    with stage.refused(3, r"unknown.?topic|does not host"):
        stage.client.delete_topic(stage.name)


def invalid_topic(stage: Stage) -> None:
    """A topic's name with a space in it is refused with INVALID_TOPIC_EXCEPTION."""
    with stage.refused(17, r"invalid.?topic|illegal"):
        stage.client.create_topic(stage.name + " with spaces")


def invalid_config(stage: Stage) -> None:
    """A value that is no number is refused with INVALID_CONFIG, and no topic is created."""
    with stage.refused(40, r"invalid.?config|invalid value|configuration is invalid"):
        stage.client.create_topic(stage.name, configs={"retention.ms": "soon"})
    assert stage.name not in stage.helper_admin.topics()


def fewer_partitions(stage: Stage) -> None:
    """Taking partitions away is refused with INVALID_PARTITIONS, and they stay."""
    topic = stage.new_topic(partitions=3)

    with stage.refused(37, r"invalid.?partitions|number of partitions"):
        stage.client.create_partitions(topic, 2)
    assert len(stage.helper_admin.leaders(topic)) == 3


def too_large(stage: Stage) -> None:
    """A record larger than its topic allows is refused with MESSAGE_TOO_LARGE, nothing written."""
    topic = stage.new_topic(max_message_bytes="1000")

    with stage.refused(10, r"too.?large|larger than"):
        stage.client.produce(topic, [Sent(b"x" * 2000)])
    assert stage.helper.watermarks(topic) == (0, 0)


def offset_out_of_range(stage: Stage) -> None:
    """Reading at an offset beyond the end, with nothing to reset it, is OFFSET_OUT_OF_RANGE."""
    topic = stage.new_topic()
    stage.client.produce(topic, numbered(3))

    with stage.refused(1, r"out.?of.?range"):
        stage.client.consume(topic, 1, start=1000)
