import pytest

from kbroker.broker.features import INITIAL_LEVELS, SUPPORTED
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kbroker.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

NAME = "metadata.version"
NOW = INITIAL_LEVELS[NAME]
UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


def update(admin, *updates, version=2, validate_only=False):
    request = UpdateFeaturesRequest(
        feature_updates=[
            FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=how)
            for name, level, how in updates
        ],
        validate_only=validate_only,
    )
    return admin.ask(request, UpdateFeaturesResponse, version=version)


def finalized(admin):
    request = ApiVersionsRequest(client_software_name="t", client_software_version="1")
    answer = admin.ask(request, ApiVersionsResponse, version=3)
    return {one.name: one.max_version_level for one in answer.finalized_features}


@pytest.mark.parametrize("version", [*UpdateFeaturesRequest.versions])
def test_every_version_takes_an_update_to_the_same_level(admin, version):
    request = UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature=NAME, max_version_level=NOW)]
    )
    answer = admin.ask(request, UpdateFeaturesResponse, version=version)

    assert (answer.error_code, answer.error_message) == (0, None)
    results = [(one.feature, one.error_code) for one in answer.results]
    # Version 2 has no results by feature: all succeed or fail together.
    assert results == ([(NAME, 0)] if version < 2 else [])
    assert finalized(admin) == INITIAL_LEVELS


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("nope", 1, UPGRADE), "Local controller 1 does not support this feature."),
        ((NAME, SUPPORTED[NAME].highest + 1, UPGRADE), "only supports versions 7-"),
        ((NAME, NOW - 1, UPGRADE), "Can't downgrade the version"),
        ((NAME, 8, SAFE_DOWNGRADE), "might delete metadata information"),
        ((NAME, NOW, 0), "does not support the given upgrade type"),
        ((NAME, NOW, 9), "does not support the given upgrade type"),
        ((NAME, -1, UPGRADE), "cannot be less than 0"),
    ],
)
def test_what_kafka_refuses_is_refused_as_a_whole(admin, asked, words):
    answer = update(admin, (NAME, NOW, UPGRADE), asked, version=1)

    assert answer.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert answer.error_message.startswith("The update failed for all features since")
    assert words in answer.error_message
    assert answer.results == []
    assert finalized(admin) == INITIAL_LEVELS


def test_an_empty_update_is_no_error(admin):
    assert update(admin).error_code == 0
