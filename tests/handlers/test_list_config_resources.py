import pytest

from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from tests.handlers.administrator import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    SET,
    TOPIC,
)


@pytest.fixture
def configured(admin):
    """A broker with one resource of each kind."""
    admin.must_create("t")
    admin.alter(GROUP, "g", ("consumer.session.timeout.ms", SET, "50000"))
    admin.alter(CLIENT_METRICS, "m", ("interval.ms", SET, "1000"))
    admin.alter(BROKER, "", ("log.retention.ms", SET, "70000"))
    return admin


def listed(admin, *kinds, version=1):
    request = ListConfigResourcesRequest(resource_types=list(kinds))
    answer = admin.ask(request, ListConfigResourcesResponse, version=version)
    assert answer.error_code == 0
    return sorted((one.resource_type, one.resource_name) for one in answer.config_resources)


def test_version_0_lists_client_metrics_only(configured):
    assert listed(configured, version=0) == [(CLIENT_METRICS, "m")]


def test_without_types_everything_is_listed(configured):
    assert listed(configured) == [
        (TOPIC, "t"),
        (BROKER, "1"),
        (BROKER_LOGGER, "1"),
        (CLIENT_METRICS, "m"),
        (GROUP, "g"),
    ]


def test_only_the_types_asked_for_are_listed(configured):
    assert listed(configured, GROUP, TOPIC, GROUP) == [(TOPIC, "t"), (GROUP, "g")]


def test_a_subscription_without_configs_is_gone(configured):
    configured.replace(CLIENT_METRICS, "m")

    assert listed(configured, CLIENT_METRICS) == []


@pytest.mark.parametrize("kinds", [[0], [1], [99], [TOPIC, 99]])
def test_an_unknown_type_is_not_supported(configured, kinds):
    request = ListConfigResourcesRequest(resource_types=kinds)
    answer = configured.ask(request, ListConfigResourcesResponse, version=1)

    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert answer.config_resources == []
