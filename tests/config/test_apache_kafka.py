"""DescribeConfigs and IncrementalAlterConfigs, side by side with Apache Kafka 4.3.1.

Differences we chose:

- Documentation is in our own words.
- Kafka puts "requirement failed: " before some messages about broker configs; we do not.
- min.insync.replicas is left out of the comparison: with KIP-966 a new Kafka cluster sets it as
  a dynamic default by itself, which is the controller's decision and not one of configs.
"""

import time
from collections.abc import Iterable, Iterator

import pytest
from kio.schema.describe_configs.v4.response import DescribeConfigsResult
from tools.apache_kafka import ApacheKafka

from kbroker.config import BrokerConfig
from kbroker.config.describe import (
    DescribedConfig,
    describe_broker,
    describe_broker_defaults,
    describe_client_metrics,
    describe_group,
    describe_topic,
)
from tests.config.raw_admin import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    RawAdmin,
)
from tests.config.test_alter import INVALID_REQUEST, REFUSALS
from tests.config.test_resources import NOT_ALTERED, NOT_DESCRIBED

pytestmark = [pytest.mark.java, pytest.mark.slow]

STATIC = {
    "log.retention.hours": "24",
    "log.flush.scheduler.interval.ms": "777",
    "log.segment.bytes": "2000000",
    "message.max.bytes": "1000000",
    "log.cleanup.policy": "compact , delete",
    "log.cleaner.io.max.bytes.per.second": "15000000",
    "group.consumer.heartbeat.interval.ms": "6000",
    "listener.name.plaintext.max.connections": "99",
    "sasl.jaas.config": "secret;",
    "my.plugin": "x",
}
FOR_ALL = {"log.retention.ms": "1000000", "log.segment.bytes": "3000000"}
OF_ONE = {"log.segment.bytes": "4000000", "leader.replication.throttled.rate": "55"}
OF_TOPIC = {"retention.bytes": "5000", "cleanup.policy": "delete,compact", "segment.ms": " 70000 "}
OF_GROUP = {"consumer.session.timeout.ms": "50000"}
OF_METRICS = {"metrics": "a,b", "interval.ms": "1000"}


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    with ApacheKafka(properties=STATIC, heap="512m") as broker:
        admin = RawAdmin(broker.port)
        admin.create_topic("t")
        for resource_type, name, overrides in (
            (TOPIC, "t", OF_TOPIC),
            (BROKER, "", FOR_ALL),
            (BROKER, "1", OF_ONE),
            (GROUP, "g", OF_GROUP),
            (CLIENT_METRICS, "m", OF_METRICS),
        ):
            changes = [(config, 0, value) for config, value in overrides.items()]
            assert admin.alter(resource_type, name, changes) == (0, None)
        _wait_for_the_last_change(admin)
        yield broker


def _wait_for_the_last_change(admin: RawAdmin) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        shown = {c.name: c.value for c in admin.describe(CLIENT_METRICS, "m").configs}
        if shown["interval.ms"] == OF_METRICS["interval.ms"]:
            return
        time.sleep(0.1)
    raise AssertionError("the broker did not see the changes")


def ours(configs: Iterable[DescribedConfig]) -> dict[str, tuple[object, ...]]:
    return {
        c.name: (
            *(c.value, int(c.source), int(c.type), c.read_only, c.sensitive),
            [(s.name, s.value, int(s.source)) for s in c.synonyms],
        )
        for c in configs
        if c.name != "min.insync.replicas"
    }


def theirs(result: DescribeConfigsResult) -> dict[str, tuple[object, ...]]:
    return {
        c.name: (
            *(c.value, c.config_source, c.config_type, c.read_only, c.is_sensitive),
            [(s.name, s.value, s.source) for s in c.synonyms],
        )
        for c in result.configs
        if c.name != "min.insync.replicas"
    }


def test_every_resource_is_described_as_kafka_describes_it(kafka):
    admin = RawAdmin(kafka.port)
    static = dict(line.split("=", 1) for line in _server_properties(kafka))
    broker = BrokerConfig.of(static, default_overrides=FOR_ALL, overrides=OF_ONE)

    assert ours(describe_topic(broker, OF_TOPIC)) == theirs(admin.describe(TOPIC, "t"))
    assert ours(describe_broker(broker)) == theirs(admin.describe(BROKER, "1"))
    assert ours(describe_broker_defaults(broker)) == theirs(admin.describe(BROKER, ""))
    assert ours(describe_group(broker, OF_GROUP)) == theirs(admin.describe(GROUP, "g"))
    assert ours(describe_group(broker, {})) == theirs(admin.describe(GROUP, "unknown"))
    subscription = describe_client_metrics(OF_METRICS)
    assert ours(subscription) == theirs(admin.describe(CLIENT_METRICS, "m"))


def test_wrong_changes_are_refused_with_these_words(kafka):
    admin = RawAdmin(kafka.port)

    for resource_type, name, changes, code, message in REFUSALS:
        texts = [(config, int(operation), value) for config, operation, value in changes]
        answered_code, answered = admin.alter(resource_type, name, texts)
        assert answered is not None
        said = answered.removeprefix("requirement failed: ")
        assert (answered_code, said) == (code, message), changes


def test_resources_that_are_not_here_are_refused_with_these_words(kafka):
    admin = RawAdmin(kafka.port)
    changes = {BROKER: ("log.segment.bytes", 0, "2000000"), BROKER_LOGGER: ("root", 0, "INFO")}

    for resource_type, name, words in NOT_DESCRIBED:
        result = admin.describe(resource_type, name)
        assert (result.error_code, result.error_message) == (INVALID_REQUEST, words)
    for resource_type, name, words in NOT_ALTERED:
        change = changes.get(resource_type, ("retention.ms", 0, "1"))
        assert admin.alter(resource_type, name, [change]) == (INVALID_REQUEST, words)


def _server_properties(kafka: ApacheKafka) -> list[str]:
    return (kafka.directory / "server.properties").read_text().splitlines()
