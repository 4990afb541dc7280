"""What ApiVersions says about the broker, and whom it refuses."""

from types import SimpleNamespace

import pytest

from kbroker.broker.requests import ConnectionInfo, RequestContext
from kbroker.handlers.api_versions import begin, unsupported_version
from kbroker.handlers.table import TABLE
from kbroker.wire import ApiKey, ErrorCode
from kbroker.wire.messages.api_versions import ApiVersionsRequest

FEATURES = SimpleNamespace(
    supported=[("metadata.version", 7, 30), ("group.version", 0, 1)],
    finalized=[("metadata.version", 30), ("group.version", 0)],
    epoch=12,
)
BROKER = SimpleNamespace(cluster_id="c", node_id=3, features_image=lambda: FEATURES)


def context(version):
    connection = ConnectionInfo(connection_id="1", listener="L", peer_host="h", peer_port=1)
    return RequestContext(BROKER, version, "client", connection, 0.0)


def ask(version, name="tests", software_version="1.0", **values):
    request = ApiVersionsRequest(
        client_software_name=name, client_software_version=software_version, **values
    )
    return begin(context(version), request)


@pytest.mark.parametrize("version", range(6))
def test_every_served_api_is_advertised_with_its_versions(version):
    answer = ask(version)
    advertised = {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys}
    assert advertised == {key: (each.lowest, each.highest) for key, each in TABLE.items()}
    assert list(advertised) == sorted(advertised)


def test_features_from_level_0_are_hidden_from_clients_that_cannot_read_them():
    """KAFKA-17011."""
    assert [each.name for each in ask(3).supported_features] == ["metadata.version"]
    assert len(ask(4).supported_features) == 2


def test_a_feature_that_is_off_is_not_among_the_finalized():
    answer = ask(4)
    (feature,) = answer.finalized_features
    assert (feature.name, feature.min_version_level, feature.max_version_level) == (
        "metadata.version",
        30,
        30,
    )
    assert answer.finalized_features_epoch == 12


def test_the_client_is_remembered_by_the_name_it_gives():
    here = context(3)
    begin(here, ApiVersionsRequest(client_software_name="lib-rd.9", client_software_version="2"))
    assert here.connection.client_software_name == "lib-rd.9"
    assert here.connection.client_software_version == "2"


@pytest.mark.parametrize("name", ["", "-a", "a-", ".", "a b", "a\n", "ä", "a_b"])
def test_a_name_that_is_none_is_refused(name):
    assert ask(3, name=name).error_code == ErrorCode.INVALID_REQUEST
    assert ask(3, software_version=name).error_code == ErrorCode.INVALID_REQUEST
    assert ask(3, name=name).api_keys == []
    assert ask(2, name=name).error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    ("cluster_id", "node_id", "error"),
    [
        (None, -1, ErrorCode.NONE),
        ("c", 3, ErrorCode.NONE),
        ("c", 4, ErrorCode.REBOOTSTRAP_REQUIRED),
        ("d", 3, ErrorCode.REBOOTSTRAP_REQUIRED),
        ("c", -1, ErrorCode.INVALID_REQUEST),
        (None, 3, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_client_that_looks_for_another_broker_is_sent_back(cluster_id, node_id, error):
    """KIP-1242."""
    assert ask(5, cluster_id=cluster_id, node_id=node_id).error_code == error


def test_an_unknown_version_is_told_the_known_ones():
    answer = unsupported_version()
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    (only,) = answer.api_keys
    assert (only.api_key, only.min_version, only.max_version) == (ApiKey.API_VERSIONS, 0, 5)


def test_every_served_api_has_exactly_one_handler():
    for served in TABLE.values():
        begin_now, handle = served.resolve()
        assert (begin_now is None) != (handle is None)
