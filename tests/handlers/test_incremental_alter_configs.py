import logging

import pytest

from kbroker.config.describe import ConfigSource
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
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
    altered,
)

NONE = (ErrorCode.NONE, None)


@pytest.fixture
def quiet_logger():
    """A logger of its own, so that no other test finds a changed level."""
    yield logging.getLogger("kbroker.test_of_levels")
    logging.getLogger("kbroker.test_of_levels").setLevel(logging.NOTSET)


@pytest.mark.parametrize("version", [*IncrementalAlterConfigsRequest.versions])
def test_every_version_alters(admin, version):
    admin.must_create("t")

    request = IncrementalAlterConfigsRequest(
        resources=[altered(TOPIC, "t", ("retention.ms", SET, "5000"))]
    )
    answer = admin.ask(request, IncrementalAlterConfigsResponse, version=version)

    assert [(one.resource_type, one.resource_name, one.error_code) for one in answer.responses] == [
        (TOPIC, "t", 0)
    ]
    assert admin.values(TOPIC, "t", "retention.ms") == {"retention.ms": "5000"}


def test_single_configs_change_and_the_others_stay(admin):
    admin.must_create("t", retention_ms="1000", segment_ms="2000")

    assert admin.alter(TOPIC, "t", ("retention.ms", DELETE, None)) == NONE
    assert admin.alter(TOPIC, "t", ("cleanup.policy", APPEND, "compact")) == NONE

    assert admin.values(TOPIC, "t", "retention.ms", "segment.ms", "cleanup.policy") == {
        "retention.ms": "604800000",
        "segment.ms": "2000",
        "cleanup.policy": "delete,compact",
    }
    assert admin.alter(TOPIC, "t", ("cleanup.policy", SUBTRACT, "delete")) == NONE
    assert admin.values(TOPIC, "t", "cleanup.policy") == {"cleanup.policy": "compact"}


def test_validating_changes_nothing(admin):
    admin.must_create("t")

    assert admin.alter(TOPIC, "t", ("retention.ms", SET, "5000"), validate_only=True) == NONE
    assert admin.values(TOPIC, "t", "retention.ms") == {"retention.ms": "604800000"}


def test_what_is_set_for_all_brokers_is_the_default_of_topics(admin):
    admin.must_create("t")

    assert admin.alter(BROKER, "", ("log.retention.ms", SET, "70000")) == NONE
    assert admin.alter(BROKER, "1", ("log.retention.ms", SET, "80000")) == NONE

    (retention,) = admin.describe(TOPIC, "t", ["retention.ms"]).configs
    assert (retention.value, retention.config_source) == ("80000", ConfigSource.DYNAMIC_BROKER)
    assert admin.alter(BROKER, "1", ("log.retention.ms", DELETE, None)) == NONE
    assert admin.values(TOPIC, "t", "retention.ms") == {"retention.ms": "70000"}


def test_groups_and_subscriptions_are_configured_before_they_exist(admin):
    assert admin.alter(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000")) == NONE
    assert admin.alter(CLIENT_METRICS, "m", ("interval.ms", SET, "1000")) == NONE

    assert set(admin.values(GROUP, "g", "consumer.session.timeout.ms").values()) == {"50000"}
    (interval,) = admin.describe(CLIENT_METRICS, "m", ["interval.ms"]).configs
    assert (interval.value, interval.config_source) == ("1000", ConfigSource.CLIENT_METRICS)


REFUSED = [
    (TOPIC, "nope", ("retention.ms", SET, "1"), "UNKNOWN_TOPIC_OR_PARTITION", "does not exist"),
    (TOPIC, "", ("retention.ms", SET, "1"), "INVALID_REQUEST", "Default topic resources"),
    (TOPIC, "t", ("nope", SET, "1"), "INVALID_CONFIG", "Unknown topic config name: nope"),
    (TOPIC, "t", ("retention.ms", SET, None), "INVALID_REQUEST", "Null value not supported"),
    (TOPIC, "t", ("retention.ms", APPEND, "1"), "INVALID_CONFIG", "its type is not LIST"),
    (TOPIC, "t", ("retention.ms", 9, "1"), "INVALID_REQUEST", "9"),
    (BROKER, "7", ("log.retention.ms", SET, "1"), "INVALID_REQUEST", "expected 1, but received 7"),
    (BROKER, "x", ("log.retention.ms", SET, "1"), "INVALID_REQUEST", "must be an integer"),
    (BROKER, "1", ("log.dirs", SET, "/x"), "INVALID_REQUEST", "dynamically: [log.dirs]"),
    (BROKER, "1", ("log.retention.ms", SET, "x"), "INVALID_REQUEST", "LONG"),
    (CLIENT_METRICS, "", ("interval.ms", SET, "1000"), "INVALID_REQUEST", "can't be empty"),
    (CLIENT_METRICS, "m", ("x", SET, "1"), "INVALID_REQUEST", "Unknown client metrics"),
    (GROUP, "", ("x", SET, "1"), "INVALID_REQUEST", "Default group resources"),
    (GROUP, "g", ("x", SET, "1"), "INVALID_CONFIG", "Unknown group config name: x"),
    (3, "z", ("x", SET, "1"), "INVALID_REQUEST", "Unknown resource type 3"),
    (BROKER_LOGGER, "7", ("root", SET, "INFO"), "INVALID_REQUEST", "Expected 1, but received 7"),
    (BROKER_LOGGER, "", ("root", SET, "INFO"), "INVALID_REQUEST", "must be an integer"),
    (BROKER_LOGGER, "1", ("no.such", SET, "INFO"), "INVALID_CONFIG", "no.such does not exist!"),
    (BROKER_LOGGER, "1", ("root", SET, "LOUD"), "INVALID_CONFIG", "DEBUG, ERROR, FATAL"),
    (BROKER_LOGGER, "1", ("root", SET, None), "INVALID_REQUEST", "Null value"),
    (BROKER_LOGGER, "1", ("root", DELETE, None), "INVALID_REQUEST", "root logger"),
    (BROKER_LOGGER, "1", ("root", APPEND, "INFO"), "INVALID_REQUEST", "APPEND operation"),
]


@pytest.mark.parametrize(("kind", "name", "change", "error", "words"), REFUSED)
def test_what_kafka_refuses_is_refused(admin, kind, name, change, error, words):
    admin.must_create("t")

    code, message = admin.alter(kind, name, change)

    assert code is ErrorCode[error]
    assert words in message


def test_a_resource_may_appear_only_once(admin):
    admin.must_create("t")
    admin.must_create("u")
    resources = [
        altered(TOPIC, "t", ("retention.ms", SET, "1000")),
        altered(TOPIC, "u", ("retention.ms", SET, "2000")),
        altered(TOPIC, "t", ("segment.ms", SET, "3000")),
    ]

    request = IncrementalAlterConfigsRequest(resources=resources)
    answer = admin.ask(request, IncrementalAlterConfigsResponse)

    assert [(one.resource_name, one.error_code) for one in answer.responses] == [
        ("t", ErrorCode.INVALID_REQUEST),
        ("u", 0),
        ("t", ErrorCode.INVALID_REQUEST),
    ]
    assert admin.values(TOPIC, "t", "retention.ms", "segment.ms") == {
        "retention.ms": "604800000",
        "segment.ms": "604800000",
    }


def test_a_key_may_appear_only_once(admin):
    admin.must_create("t")

    assert admin.alter(TOPIC, "t", ("flush.ms", SET, "1"), ("flush.ms", SET, "2")) == (
        ErrorCode.INVALID_REQUEST,
        "Error due to duplicate config keys",
    )


def test_levels_of_loggers_change_while_the_broker_runs(admin, quiet_logger):
    assert admin.alter(BROKER_LOGGER, "1", ("test_of_levels", SET, "TRACE")) == NONE
    assert quiet_logger.isEnabledFor(5)
    assert admin.values(BROKER_LOGGER, "1", "test_of_levels") == {"test_of_levels": "TRACE"}

    change = ("test_of_levels", SET, "FATAL")
    assert admin.alter(BROKER_LOGGER, "1", change, validate_only=True) == NONE
    assert quiet_logger.level == 5

    assert admin.alter(BROKER_LOGGER, "1", ("test_of_levels", DELETE, None)) == NONE
    assert quiet_logger.level == logging.NOTSET
