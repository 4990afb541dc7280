import pytest

from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResponse,
)
from tests.handlers.administrator import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
)

NONE = (ErrorCode.NONE, None)


def replacing(kind, name, **configs):
    return AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


@pytest.mark.parametrize("version", [*AlterConfigsRequest.versions])
def test_every_version_replaces_all_that_was_set(admin, version):
    admin.must_create("t", retention_ms="1000")

    request = AlterConfigsRequest(resources=[replacing(TOPIC, "t", segment_ms="9000")])
    answer = admin.ask(request, AlterConfigsResponse, version=version)

    assert [(one.resource_type, one.resource_name, one.error_code) for one in answer.responses] == [
        (TOPIC, "t", 0)
    ]
    assert admin.values(TOPIC, "t", "retention.ms", "segment.ms") == {
        "retention.ms": "604800000",
        "segment.ms": "9000",
    }


def test_every_kind_of_resource_can_be_replaced(admin):
    assert admin.replace(BROKER, "1", ("log.retention.ms", "70000")) == NONE
    assert admin.replace(BROKER, "", ("log.segment.bytes", "2000000")) == NONE
    assert admin.replace(GROUP, "g", ("consumer.session.timeout.ms", "50000")) == NONE
    assert admin.replace(CLIENT_METRICS, "m", ("interval.ms", "1000")) == NONE

    assert admin.values(BROKER, "1", "log.retention.ms", "log.segment.bytes") == {
        "log.retention.ms": "70000",
        "log.segment.bytes": "2000000",
    }
    assert admin.values(CLIENT_METRICS, "m", "interval.ms") == {"interval.ms": "1000"}


def test_replacing_by_nothing_takes_all_away(admin):
    admin.must_create("t", retention_ms="1000")

    assert admin.replace(TOPIC, "t") == NONE
    assert admin.values(TOPIC, "t", "retention.ms") == {"retention.ms": "604800000"}


def test_validating_changes_nothing(admin):
    admin.must_create("t", retention_ms="1000")

    assert admin.replace(TOPIC, "t", ("segment.ms", "9000"), validate_only=True) == NONE
    assert admin.values(TOPIC, "t", "retention.ms") == {"retention.ms": "1000"}


@pytest.mark.parametrize(
    ("kind", "name", "entry", "error", "words"),
    [
        (TOPIC, "nope", ("flush.ms", "1"), "UNKNOWN_TOPIC_OR_PARTITION", "does not exist"),
        (TOPIC, "", ("flush.ms", "1"), "INVALID_REQUEST", "Default topic resources"),
        (TOPIC, "t", ("nope", "1"), "INVALID_CONFIG", "Unknown topic config name: nope"),
        (TOPIC, "t", ("flush.ms", None), "INVALID_REQUEST", "Null value not supported"),
        (BROKER, "7", ("log.retention.ms", "1"), "INVALID_REQUEST", "expected 1, but received 7"),
        (BROKER, "1", ("node.id", "4"), "INVALID_REQUEST", "dynamically: [node.id]"),
        # Levels of loggers can only be altered incrementally.
        (BROKER_LOGGER, "1", ("root", "INFO"), "INVALID_REQUEST", "Unknown resource type 8"),
    ],
)
def test_what_kafka_refuses_is_refused(admin, kind, name, entry, error, words):
    admin.must_create("t")

    code, message = admin.replace(kind, name, entry)

    assert code is ErrorCode[error]
    assert words in message


def test_a_resource_may_appear_only_once(admin):
    admin.must_create("t")
    twice = [replacing(TOPIC, "t", flush_ms="1"), replacing(TOPIC, "t", flush_ms="2")]

    answer = admin.ask(AlterConfigsRequest(resources=twice), AlterConfigsResponse)

    assert [one.error_code for one in answer.responses] == [ErrorCode.INVALID_REQUEST] * 2
