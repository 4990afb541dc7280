import pytest

from kbroker.config.describe import ConfigSource
from kbroker.config.values import ConfigType
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from tests.handlers.administrator import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    SET,
    TOPIC,
    Administrator,
)


def test_a_topic_has_every_config_with_its_source(admin):
    admin.must_create("t", retention_ms="1000")

    result = admin.describe(TOPIC, "t")

    by_name = {config.name: config for config in result.configs}
    assert (result.error_code, result.resource_type, result.resource_name) == (0, TOPIC, "t")
    assert len(by_name) == 33  # as many as Kafka 4.3.1 shows
    retention = by_name["retention.ms"]
    assert (retention.value, retention.config_source) == ("1000", ConfigSource.DYNAMIC_TOPIC)
    assert (retention.config_type, retention.is_sensitive) == (ConfigType.LONG, False)
    assert retention.documentation
    policy = by_name["cleanup.policy"]
    assert (policy.value, policy.config_source) == ("delete", ConfigSource.DEFAULT)
    assert [(one.name, one.value, one.source) for one in policy.synonyms] == [
        ("log.cleanup.policy", "delete", ConfigSource.DEFAULT)
    ]


@pytest.mark.parametrize("version", [*DescribeConfigsRequest.versions])
def test_every_version_describes(admin, version):
    admin.must_create("t")
    resource = DescribeConfigsResource(
        resource_type=TOPIC, resource_name="t", configuration_keys=["retention.ms", "nope"]
    )

    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
    answer = admin.ask(request, DescribeConfigsResponse, version=version)

    (config,) = answer.results[0].configs
    assert (config.name, config.value) == ("retention.ms", "604800000")
    assert config.config_type == (ConfigType.LONG if version >= 3 else 0)


def test_synonyms_and_documentation_come_only_if_asked_for(admin):
    admin.must_create("t")

    result = admin.describe(TOPIC, "t", ["flush.ms"], synonyms=False, documentation=False)

    assert (result.configs[0].synonyms, result.configs[0].documentation) == ([], None)


def test_a_broker_shows_what_it_was_started_with(admin):
    configs = {one.name: one for one in admin.describe(BROKER, "1").configs}

    assert (configs["node.id"].value, configs["node.id"].read_only) == ("1", True)
    assert configs["node.id"].config_source == ConfigSource.STATIC_BROKER
    assert configs["log.retention.ms"].read_only is False
    assert configs["ssl.key.password"].is_sensitive
    assert len(configs) > 200


def test_the_nameless_broker_shows_what_was_set_for_all(admin):
    """One config is the cluster's own from the beginning (KIP-966)."""
    admin.alter(BROKER, "", ("log.retention.ms", SET, "5000"))

    configs = admin.describe(BROKER, "").configs
    assert {config.name: config.value for config in configs} == {
        "min.insync.replicas": "1",
        "log.retention.ms": "5000",
    }
    assert {config.config_source for config in configs} == {ConfigSource.DYNAMIC_DEFAULT_BROKER}


def test_a_new_cluster_keeps_the_replicas_that_its_first_broker_wants(tmp_path):
    with (
        Broker(data_dir=str(tmp_path), configs={"min.insync.replicas": "2"}) as broker,
        Administrator(broker.host, broker.port) as admin,
    ):
        admin.must_create("t", 1)
    with (
        Broker(data_dir=str(tmp_path)) as broker,
        Administrator(broker.host, broker.port) as admin,
    ):
        (config,) = admin.describe(TOPIC, "t", ["min.insync.replicas"]).configs

    assert config.value == "2"
    assert config.config_source == ConfigSource.DYNAMIC_DEFAULT_BROKER


def test_a_group_and_a_subscription_need_not_exist(admin):
    (session,) = admin.describe(GROUP, "g", ["consumer.session.timeout.ms"]).configs
    metrics = admin.describe(CLIENT_METRICS, "m").configs

    assert (session.value, session.config_source) == ("45000", ConfigSource.DEFAULT)
    assert [(one.name, one.value) for one in metrics] == [
        ("interval.ms", "300000"),
        ("match", ""),
        ("metrics", ""),
    ]


def test_loggers_are_shown_with_their_levels(admin):
    loggers = {one.name: one for one in admin.describe(BROKER_LOGGER, "1").configs}

    assert {"root", "control", "broker"} <= loggers.keys()
    assert loggers["root"].value in {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}
    assert loggers["root"].config_source == ConfigSource.DYNAMIC_BROKER_LOGGER
    assert list(admin.values(BROKER_LOGGER, "1", "root")) == ["root"]


@pytest.mark.parametrize(
    ("kind", "name", "error", "message"),
    [
        (TOPIC, "nope", "UNKNOWN_TOPIC_OR_PARTITION", None),
        (TOPIC, "", "INVALID_TOPIC_EXCEPTION", "empty string"),
        (TOPIC, "bad/", "INVALID_TOPIC_EXCEPTION", "alphanumerics"),
        (BROKER, "7", "INVALID_REQUEST", "expected 1 or empty string, but received 7"),
        (BROKER, "x", "INVALID_REQUEST", "Broker id must be an integer, but it is: x"),
        (BROKER_LOGGER, "", "INVALID_REQUEST", "Broker id must not be empty"),
        (BROKER_LOGGER, "7", "INVALID_REQUEST", "expected 1 but received 7"),
        (CLIENT_METRICS, "", "INVALID_REQUEST", "must not be empty"),
        (GROUP, "", "INVALID_REQUEST", "Group name must not be empty"),
    ],
)
def test_a_resource_that_cannot_be_described_says_why(admin, kind, name, error, message):
    result = admin.describe(kind, name)

    assert ErrorCode(result.error_code) is ErrorCode[error]
    assert (result.resource_type, result.resource_name, result.configs) == (kind, name, [])
    assert message is None or message in result.error_message


def test_one_resource_of_an_unknown_type_spoils_the_request(admin):
    admin.must_create("t")
    resources = [
        DescribeConfigsResource(resource_type=kind, resource_name="t", configuration_keys=None)
        for kind in (TOPIC, 3)
    ]

    answer = admin.ask(DescribeConfigsRequest(resources=resources), DescribeConfigsResponse)

    assert [(one.resource_type, one.error_code) for one in answer.results] == [
        (TOPIC, ErrorCode.INVALID_REQUEST),
        (3, ErrorCode.INVALID_REQUEST),
    ]
