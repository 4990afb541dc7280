"""Changes are made whole, or refused with Kafka's words.

REFUSALS holds changes and the answers of Kafka 4.3.1 to them; test_apache_kafka.py puts the same
changes to a real broker.
"""

import pytest

from kbroker.config import BrokerConfig, ConfigError, ConfigRequestError
from kbroker.config.alter import (
    Change,
    Operation,
    alter_broker,
    alter_client_metrics,
    alter_group,
    alter_topic,
    replacement,
)
from tests.config.raw_admin import BROKER, CLIENT_METRICS, GROUP, TOPIC

SET, DELETE, APPEND, SUBTRACT = Operation
INVALID_CONFIG, INVALID_REQUEST = 40, 42
# Each: resource type, resource name, changes, error code, message.
REFUSALS = [
    (TOPIC, "t", [("nope", SET, "1")], INVALID_CONFIG, "Unknown topic config name: nope"),
    (
        *(TOPIC, "t", [("nope", APPEND, "1")], INVALID_CONFIG),
        "Can't APPEND to key nope because its type is not LIST.",
    ),
    (
        *(TOPIC, "t", [("retention.ms", SUBTRACT, "1")], INVALID_CONFIG),
        "Can't SUBTRACT to key retention.ms because its type is not LIST.",
    ),
    (
        *(TOPIC, "t", [("retention.ms", SET, None)], INVALID_REQUEST),
        "Null value not supported for : retention.ms",
    ),
    (
        *(TOPIC, "t", [("retention.ms", SET, "1"), ("retention.ms", SET, "2")], INVALID_REQUEST),
        "Error due to duplicate config keys",
    ),
    (
        *(TOPIC, "t", [("retention.ms", SET, "-5")], INVALID_CONFIG),
        "Invalid value -5 for configuration retention.ms: Value must be at least -1",
    ),
    (
        *(TOPIC, "t", [("retention.ms", SET, "")], INVALID_CONFIG),
        "Invalid value  for configuration retention.ms: Not a number of type LONG",
    ),
    (
        TOPIC,
        "t",
        [("min.compaction.lag.ms", SET, "100"), ("max.compaction.lag.ms", SET, "10")],
        INVALID_CONFIG,
        "conflict topic config setting min.compaction.lag.ms (100) > max.compaction.lag.ms (10)",
    ),
    (
        *(TOPIC, "t", [("remote.storage.enable", SET, "true")], INVALID_CONFIG),
        (
            "Tiered Storage functionality is disabled in the broker. "
            "Topic cannot be configured with remote log storage."
        ),
    ),
    (
        *(TOPIC, "t", [("cleanup.policy", APPEND, "bogus")], INVALID_CONFIG),
        (
            "Invalid value bogus for configuration cleanup.policy: "
            "String must be one of: compact, delete"
        ),
    ),
    (
        *(BROKER, "", [("num.partitions", SET, "3"), ("node.id", SET, "4")], INVALID_REQUEST),
        "Cannot update these configs dynamically: [node.id, num.partitions]",
    ),
    (BROKER, "1", [("nope", APPEND, "3")], INVALID_CONFIG, "Unknown config name: nope"),
    (
        *(BROKER, "1", [("log.segment.bytes", SET, "x")], INVALID_REQUEST),
        "Invalid value x for configuration log.segment.bytes: Not a number of type INT",
    ),
    (
        *(BROKER, "1", [("log.segment.bytes", SET, "-1")], INVALID_REQUEST),
        "Invalid value -1 for configuration log.segment.bytes: Value must be at least 1048576",
    ),
    (
        *(BROKER, "", [("listeners", SET, "PLAINTEXT://:1")], INVALID_REQUEST),
        (
            "Cannot update these configs at default cluster level, broker id must be specified: "
            "[listeners]"
        ),
    ),
    (
        *(BROKER, "", [("listener.name.a.ssl.keystore.location", SET, "f")], INVALID_REQUEST),
        (
            "Cannot update these configs at default cluster level, broker id must be specified: "
            "[listener.name.a.ssl.keystore.location]"
        ),
    ),
    (
        *(BROKER, "1", [("ssl.keystore.location", SET, "x")], INVALID_REQUEST),
        (
            "These security configs can be dynamically updated only per-listener using the "
            "listener prefix: [ssl.keystore.location]"
        ),
    ),
    (
        *(BROKER, "", [("log.cleaner.threads", APPEND, "2")], INVALID_CONFIG),
        "Config value append is not allowed for config key: log.cleaner.threads",
    ),
    (
        *(BROKER, "", [("log.cleaner.threads", SUBTRACT, "2")], INVALID_CONFIG),
        "Config value subtract is not allowed for config key: log.cleaner.threads",
    ),
    (
        *(BROKER, "", [("num.io.threads", SET, None)], INVALID_REQUEST),
        "Null value not supported for : num.io.threads",
    ),
    (
        *(BROKER, "1", [("num.io.threads", 7, "4")], INVALID_REQUEST),
        "Unknown operations type 7",
    ),
    (
        *(BROKER, "", [("log.retention.ms", SET, "0")], INVALID_REQUEST),
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    ),
    (GROUP, "g", [("nope", SET, "1")], INVALID_CONFIG, "Unknown group config name: nope"),
    (
        *(GROUP, "g", [("consumer.session.timeout.ms", SET, "1")], INVALID_CONFIG),
        (
            "consumer.session.timeout.ms must be greater than or equal to "
            "group.consumer.min.session.timeout.ms"
        ),
    ),
    (
        *(GROUP, "g", [("consumer.heartbeat.interval.ms", SET, "100000")], INVALID_CONFIG),
        (
            "consumer.heartbeat.interval.ms must be less than or equal to "
            "group.consumer.max.heartbeat.interval.ms"
        ),
    ),
    (
        *(GROUP, "g", [("streams.num.standby.replicas", SET, "9")], INVALID_CONFIG),
        (
            "streams.num.standby.replicas must be less than or equal to "
            "group.streams.max.standby.replicas"
        ),
    ),
    (
        *(GROUP, "g", [("consumer.session.timeout.ms", APPEND, "1")], INVALID_CONFIG),
        "Can't APPEND to key consumer.session.timeout.ms because its type is not LIST.",
    ),
    (
        *(CLIENT_METRICS, "m", [("nope", SET, "1")], INVALID_REQUEST),
        "Unknown client metrics configuration: nope",
    ),
    (
        *(CLIENT_METRICS, "m", [("interval.ms", SET, "1")], INVALID_REQUEST),
        "Invalid value 1 for interval.ms, interval must be between 100 and 3600000 (1 hour)",
    ),
    (
        *(CLIENT_METRICS, "m", [("interval.ms", SET, "q")], INVALID_CONFIG),
        "Invalid value q for configuration interval.ms: Not a number of type INT",
    ),
    (
        *(CLIENT_METRICS, "m", [("match", SET, "a=b")], INVALID_CONFIG),
        "Illegal client matching pattern: a=b",
    ),
    (
        *(CLIENT_METRICS, "m", [("match", SET, "client_id=[")], INVALID_CONFIG),
        "Illegal client matching pattern: client_id=[",
    ),
    (
        *(CLIENT_METRICS, "m", [("metrics", APPEND, "c")], INVALID_CONFIG),
        "Can't APPEND to key metrics because its type is not LIST.",
    ),
]
BROKER_CONFIG = BrokerConfig.of({})


def alter(resource_type: int, name: str, current: dict[str, str], *changes: Change):
    match resource_type:
        case 2:
            return alter_topic(BROKER_CONFIG, current, changes)
        case 4:
            return alter_broker(BROKER_CONFIG, current, changes, for_all=not name)
        case 16:
            return alter_client_metrics(current, changes)
        case _:
            return alter_group(BROKER_CONFIG, current, changes)


@pytest.mark.parametrize(("resource_type", "name", "changes", "code", "message"), REFUSALS)
def test_a_wrong_change_is_refused_with_kafkas_words(resource_type, name, changes, code, message):
    with pytest.raises(ConfigError) as caught:
        alter(resource_type, name, {}, *(Change(*change) for change in changes))

    assert str(caught.value) == message
    assert isinstance(caught.value, ConfigRequestError) == (code == INVALID_REQUEST)


def test_a_refused_change_leaves_nothing_behind():
    current = {"retention.ms": "5"}
    with pytest.raises(ConfigError):
        alter(TOPIC, "t", current, Change("segment.ms", SET, "9"), Change("nope", SET, "1"))

    assert current == {"retention.ms": "5"}


def test_changes_are_made_together():
    current = {"retention.ms": "5", "segment.ms": "6"}
    changed = alter(
        *(TOPIC, "t", current),
        Change("retention.ms", DELETE, None),
        Change("segment.ms", SET, "7"),
        Change("cleanup.policy", APPEND, "compact"),
        Change("flush.ms", DELETE, "whatever"),
    )

    assert changed == {"segment.ms": "7", "cleanup.policy": "delete,compact"}


def test_deleting_what_nobody_knows_is_no_error():
    assert alter(TOPIC, "t", {}, Change("nope", DELETE, None)) == {}


@pytest.mark.parametrize(
    ("current", "operation", "value", "changed"),
    [
        ("0:1", APPEND, "0:1,1:1", "0:1,1:1"),
        ("0:1,1:1,2:1", SUBTRACT, "1:1,5:5", "0:1,2:1"),
        ("0:1", SUBTRACT, "0:1", ""),
        ("", APPEND, "0:1", "0:1"),
    ],
)
def test_lists_grow_and_shrink(current, operation, value, changed):
    name = "leader.replication.throttled.replicas"

    assert alter(TOPIC, "t", {name: current}, Change(name, operation, value)) == {name: changed}


def test_a_list_cannot_grow_beyond_a_string_of_the_protocol():
    name = "leader.replication.throttled.replicas"
    current = {name: ",".join(f"{partition}:1" for partition in range(5000))}

    with pytest.raises(ConfigError, match=r"exceeds the maximum value size of 32767 bytes"):
        alter(TOPIC, "t", current, Change(name, APPEND, "9999:1"))


def test_a_replacement_forgets_what_was_set_before():
    entries = [("retention.ms", "9"), ("segment.ms", "8")]

    assert alter_topic(BROKER_CONFIG, {}, replacement(entries)) == dict(entries)
    with pytest.raises(ConfigRequestError, match=r"Null value not supported for : segment.ms, x"):
        alter_topic(BROKER_CONFIG, {}, replacement([("segment.ms", None), ("x", None)]))


def test_a_broker_takes_names_that_nobody_knows():
    assert alter(BROKER, "1", {}, Change("my.plugin", SET, "1")) == {"my.plugin": "1"}


def test_a_config_of_a_listener_can_change_on_one_broker():
    name = "listener.name.a.ssl.keystore.location"

    assert alter(BROKER, "1", {}, Change(name, SET, "f")) == {name: "f"}


def test_a_broker_config_must_fit_the_others_that_count_then():
    broker = BrokerConfig.of({}, overrides={"max.connections.per.ip.overrides": "host:5"})
    change = Change("max.connections.per.ip", SET, "0")

    assert alter_broker(broker, {}, [change], for_all=True) == {"max.connections.per.ip": "0"}
    with pytest.raises(ConfigRequestError, match=r"can be set to zero only if"):
        alter_broker(broker, {}, [change], for_all=False)


def test_a_group_must_keep_its_session_longer_than_its_heartbeat():
    broker = BrokerConfig.of(
        {
            "group.consumer.min.session.timeout.ms": "1000",
            "group.consumer.max.heartbeat.interval.ms": "90000",
        }
    )
    change = Change("consumer.heartbeat.interval.ms", SET, "50000")

    with pytest.raises(ConfigError, match=r"consumer.session.timeout.ms must be greater than con"):
        alter_group(broker, {}, [change])


def test_a_client_metrics_subscription_takes_patterns():
    changes = [
        Change("match", SET, "client_id=a.*,client_software_name=x"),
        Change("metrics", SET, "*"),
    ]

    assert alter(CLIENT_METRICS, "m", {}, *changes) == {
        "match": "client_id=a.*,client_software_name=x",
        "metrics": "*",
    }
