"""The administration APIs beside Apache Kafka's: the same requests, the same answers.

Every test puts its question to both brokers and compares what a client can act on: error codes,
the words that tools show, values, sources. Topics of a test bear its own names, since the brokers
are shared.
"""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from tools.apache_kafka import ApacheKafka

from kbroker.model import ZERO_UUID
from kbroker.testing import Broker
from kbroker.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kbroker.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from kbroker.wire.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kbroker.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from tests.handlers.administrator import (
    APPEND,
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    DELETE,
    GROUP,
    SET,
    SUBTRACT,
    TOPIC,
    Administrator,
    more,
    new_topic,
)

pytestmark = pytest.mark.java

Answer = TypeVar("Answer")
Ask = Callable[[Callable[[Administrator], Answer]], Answer]


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Administrator, Administrator]]:
    with (
        ApacheKafka(heap="512m") as kafka,
        Broker() as broker,
        Administrator("127.0.0.1", kafka.port) as theirs,
        Administrator(broker.host, broker.port) as ours,
    ):
        yield theirs, ours


@pytest.fixture
def same(both: tuple[Administrator, Administrator]) -> Ask[Answer]:
    """Ask both, see that they agree, and give the answer."""

    def ask(question: Callable[[Administrator], Answer]) -> Answer:
        theirs, ours = (question(admin) for admin in both)
        assert ours == theirs
        return ours

    return ask


def created(admin, *topics, **how):
    return {
        name: (
            one.error_code,
            one.error_message
            and one.error_message.split(" or some brokers have all")[0].rstrip("."),
            one.topic_id == ZERO_UUID,
            (one.num_partitions, one.replication_factor),
            [(config.name, config.value, config.config_source) for config in one.configs],
        )
        for name, one in admin.create(*topics, **how).items()
    }


@pytest.mark.parametrize("validate_only", [True, False])
def test_create_topics(same, validate_only):
    topics = [
        new_topic("ct-ok", 2, 1, configs={"retention.ms": "1000"}),
        new_topic("ct-defaults"),
        new_topic("ct-twice", 1, 1),
        new_topic("ct-twice", 1, 1),
        new_topic("ct/bad", 1, 1),
        new_topic("", 1, 1),
        new_topic("ct-rf3", 1, 3),
        new_topic("ct-rf0", 1, 0),
        new_topic("ct-p0", 0, 1),
        new_topic("ct-unknown-config", 1, 1, configs={"nope": "1"}),
        new_topic("ct-bad-config", 1, 1, configs={"retention.ms": "x"}),
        new_topic("ct-null-config", 1, 1, configs={"retention.ms": None}),
        new_topic("ct-manual", assignments={0: [1], 1: [1]}),
        new_topic("ct-manual-count", 1, 1, assignments={0: [1]}),
        new_topic("ct-manual-gap", assignments={0: [1], 2: [1]}),
        new_topic("ct-manual-twice", assignments={0: [1, 1]}),
        new_topic("ct-manual-unknown", assignments={0: [9]}),
        new_topic("__cluster_metadata", 1, 1),
        new_topic("ct.collides", 1, 1),
        new_topic("ct_collides", 1, 1),
    ]
    same(lambda admin: created(admin, *topics, validate_only=validate_only))


def test_create_topics_without_time_or_too_large(same):
    same(lambda admin: created(admin, new_topic("ctt-large", 20_000, 1)))
    codes = same(
        lambda admin: {
            name: one.error_code
            for name, one in admin.create(new_topic("ctt-t", 1, 1), timeout_ms=0).items()
        }
    )
    assert codes == {"ctt-t": 7}


def test_delete_topics(same):
    for name in ("dt-a", "dt-b", "dt-c"):
        same(lambda admin, name=name: admin.must_create(name) != ZERO_UUID)

    def by_names(admin):
        return admin.delete("dt-a", "dt-b", "dt-b", "dt-nope", "dt/bad")

    assert same(by_names)["dt-a"] == (0, None)
    assert same(lambda admin: admin.delete("dt-c", timeout_ms=0)["dt-c"][0]) == 7
    assert same(lambda admin: admin.partitions_of("dt-c")) == 1


def test_create_partitions(same):
    for name in ("cp-a", "cp-b", "cp-c", "cp-d"):
        same(lambda admin, name=name: admin.must_create(name, 2) != ZERO_UUID)
    topics = [
        more("cp-a", 4),
        more("cp-b", 2),
        more("cp-c", 1),
        more("cp-c", 3),
        more("cp-d", 5, [[1]]),
        more("cp-nope", 5),
    ]

    # Kafka has no words for the topic that does not exist.
    codes = same(
        lambda admin: {name: error for name, (error, _) in admin.add_partitions(*topics).items()}
    )
    assert codes["cp-a"] == 0
    same(lambda admin: admin.add_partitions(*topics[:5]))
    same(lambda admin: admin.add_partitions(more("cp-d", 3, [[7]]), validate_only=True))


ALTERATIONS = [
    (TOPIC, "ac", ("retention.ms", SET, "5000")),
    (TOPIC, "ac", ("cleanup.policy", APPEND, "compact")),
    (TOPIC, "ac", ("cleanup.policy", SUBTRACT, "delete")),
    (TOPIC, "ac", ("retention.ms", DELETE, None)),
    (TOPIC, "ac", ("retention.ms", APPEND, "1")),
    (TOPIC, "ac", ("retention.ms", SET, None)),
    (TOPIC, "ac", ("retention.ms", SET, "x")),
    (TOPIC, "ac", ("nope", SET, "1")),
    (TOPIC, "ac-nope", ("retention.ms", SET, "5000")),
    (TOPIC, "ac-nope", ("nope", SET, "5000")),
    (TOPIC, "ac/bad", ("retention.ms", SET, "5000")),
    (TOPIC, "", ("retention.ms", SET, "5000")),
    (BROKER, "1", ("log.cleaner.threads", SET, "2")),
    (BROKER, "1", ("log.dirs", SET, "/x")),
    (BROKER, "1", ("log.cleaner.threads", SET, "x")),
    (BROKER, "", ("log.retention.ms", SET, "70000000")),
    (BROKER, "7", ("log.retention.ms", SET, "70000000")),
    (BROKER, "x", ("log.retention.ms", SET, "70000000")),
    (BROKER_LOGGER, "1", ("no.such", SET, "DEBUG")),
    (BROKER_LOGGER, "1", ("root", SET, "LOUD")),
    (BROKER_LOGGER, "1", ("root", DELETE, None)),
    (BROKER_LOGGER, "1", ("root", APPEND, "DEBUG")),
    (BROKER_LOGGER, "7", ("root", SET, "DEBUG")),
    (BROKER_LOGGER, "", ("root", SET, "DEBUG")),
    (CLIENT_METRICS, "ac-m", ("interval.ms", SET, "1000")),
    (CLIENT_METRICS, "ac-m", ("nope", SET, "1000")),
    (CLIENT_METRICS, "", ("interval.ms", SET, "1000")),
    (GROUP, "ac-g", ("consumer.session.timeout.ms", SET, "50000")),
    (GROUP, "ac-g", ("nope", SET, "50000")),
    (GROUP, "", ("consumer.session.timeout.ms", SET, "50000")),
    (3, "z", ("nope", SET, "1")),
]


def described(admin, kind, name, *keys):
    result = admin.describe(kind, name, keys or None)
    configs = {
        one.name: (
            one.value,
            one.config_source,
            one.config_type,
            one.read_only,
            one.is_sensitive,
            [(each.name, each.value, each.source) for each in one.synonyms],
        )
        for one in result.configs
    }
    # Kafka leaves the message of an unknown topic empty; empty or absent is the same to a client.
    return result.error_code, result.error_message or None, configs


def test_alter_and_describe_configs(same):
    same(lambda admin: admin.must_create("ac") != ZERO_UUID)
    for kind, name, change in ALTERATIONS:
        same(lambda admin, k=kind, n=name, c=change: admin.alter(k, n, c, validate_only=True))
        same(lambda admin, k=kind, n=name, c=change: admin.alter(k, n, c))
    for kind, name in ((TOPIC, "ac"), (BROKER, ""), (CLIENT_METRICS, "ac-m"), (GROUP, "ac-g")):
        assert same(lambda admin, k=kind, n=name: described(admin, k, n))[2]
    keys = ("log.retention.ms", "log.cleaner.threads", "node.id", "ssl.key.password")
    assert len(same(lambda admin: described(admin, BROKER, "1", *keys))[2]) == 4
    for kind, name in (
        *((TOPIC, "ac-nope"), (TOPIC, "ac/bad"), (BROKER, "7"), (BROKER, "x")),
        *((BROKER_LOGGER, ""), (BROKER_LOGGER, "7"), (CLIENT_METRICS, ""), (GROUP, "")),
    ):
        assert same(lambda admin, k=kind, n=name: described(admin, k, n))[0] != 0

    # The older AlterConfigs takes away what it does not name.
    assert same(lambda admin: admin.replace(TOPIC, "ac", ("segment.ms", "9000"))) == (0, None)
    same(lambda admin: admin.replace(BROKER_LOGGER, "1", ("root", "INFO")))
    same(lambda admin: admin.replace(TOPIC, "ac-nope", ("segment.ms", "9000")))
    same(lambda admin: described(admin, TOPIC, "ac"))


def test_list_config_resources(same):
    same(lambda admin: admin.alter(CLIENT_METRICS, "lc-m", ("interval.ms", SET, "1000")))

    def listed(admin, version, kinds):
        request = ListConfigResourcesRequest(resource_types=kinds)
        answer = admin.ask(request, ListConfigResourcesResponse, version=version)
        return answer.error_code, sorted(
            (one.resource_type, one.resource_name)
            for one in answer.config_resources
            if one.resource_name in ("lc-m", "1")
        )

    assert same(lambda admin: listed(admin, 0, [])) == (0, [(CLIENT_METRICS, "lc-m")])
    for kinds in ([], [BROKER, BROKER_LOGGER], [CLIENT_METRICS], [GROUP], [TOPIC], [99], [0]):
        same(lambda admin, kinds=kinds: listed(admin, 1, kinds))


def test_describe_cluster(same):
    def asked(admin, version, **how):
        answer = admin.ask(DescribeClusterRequest(**how), DescribeClusterResponse, version=version)
        answer.brokers = [(one.broker_id, one.host, one.rack) for one in answer.brokers]
        answer.cluster_id = bool(answer.cluster_id)
        return repr(answer)

    for version in DescribeClusterRequest.versions:
        same(lambda admin, v=version: asked(admin, v, include_cluster_authorized_operations=True))
    same(lambda admin: asked(admin, 1, endpoint_type=2))
    same(lambda admin: asked(admin, 2, endpoint_type=5))


def wait_until_led(both, topic):
    """Kafka's broker hears of a topic some moments after its controller has made it."""
    request = DescribeProducersRequest(topics=[TopicRequest(name=topic, partition_indexes=[0])])
    deadline = time.monotonic() + 30
    for admin in both:
        while admin.ask(request, DescribeProducersResponse).topics[0].partitions[0].error_code:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_describe_producers(same, both):
    same(lambda admin: admin.must_create("dp") != ZERO_UUID)
    request = DescribeProducersRequest(
        topics=[
            TopicRequest(name="dp", partition_indexes=[0, 99]),
            TopicRequest(name="dp-nope", partition_indexes=[0]),
            TopicRequest(name="dp/bad", partition_indexes=[0]),
        ]
    )
    wait_until_led(both, "dp")
    same(lambda admin: repr(admin.ask(request, DescribeProducersResponse)))


@pytest.mark.parametrize("version", [*UpdateFeaturesRequest.versions])
def test_update_features(same, version):
    for name, level, how in (
        ("nope", 1, 1),
        ("metadata.version", 29, 1),
        ("metadata.version", 10, 2),
        ("metadata.version", 0, 2),
        ("metadata.version", 99, 1),
        ("metadata.version", 30, 1),
        ("metadata.version", 30, 9),
    ):
        update = FeatureUpdateKey(feature=name, max_version_level=level)
        if version > 0:
            update.upgrade_type = how
        request = UpdateFeaturesRequest(feature_updates=[update])
        same(
            lambda admin, request=request: repr(
                admin.ask(request, UpdateFeaturesResponse, version=version)
            )
        )
