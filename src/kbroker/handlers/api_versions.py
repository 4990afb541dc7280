"""ApiVersions (key 18): which requests, versions and features this broker knows (KIP-35, KIP-584).

The first request of nearly every client, allowed before authentication. A version that we do not
know is answered in version 0, so that the client can fall back (KIP-511); the dispatcher asks
`unsupported_version` for that answer.
"""

import re
from typing import Protocol

from kbroker.broker.requests import RequestContext
from kbroker.handlers.table import TABLE
from kbroker.wire import ApiKey, ErrorCode
from kbroker.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

# What a client may call itself: it ends up in metrics and logs.
_SOFTWARE_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_NO_NODE = -1


class FeaturesImage(Protocol):
    """The features of the cluster, as the broker sees them now."""

    @property
    def supported(self) -> list[tuple[str, int, int]]:
        """Each feature this broker knows, with its lowest and highest level."""
        ...

    @property
    def finalized(self) -> list[tuple[str, int]]:
        """Each feature the cluster has agreed on, with its level."""
        ...

    @property
    def epoch(self) -> int:
        """Grows whenever the cluster agrees on something else."""
        ...


def begin(context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    """All that is served; or an error, if the client introduces itself in a wrong way."""
    version = context.api_version
    if not _is_valid(version, request):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    if request.cluster_id is not None and (
        request.cluster_id != context.broker.cluster_id or request.node_id != context.broker.node_id
    ):
        # KIP-1242: the client was told that another broker lives at this address.
        return ApiVersionsResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED)
    if version >= 3:
        context.connection.client_software_name = request.client_software_name
        context.connection.client_software_version = request.client_software_version
    return _everything_served(context.broker.features_image(), version)


def unsupported_version() -> ApiVersionsResponse:
    """The answer, in version 0, to a version we do not know: which ones we do (KIP-511)."""
    return ApiVersionsResponse(
        error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[_served_versions(ApiKey.API_VERSIONS)]
    )


def _is_valid(version: int, request: ApiVersionsRequest) -> bool:
    if version < 3:
        return True
    names = request.client_software_name, request.client_software_version
    # KIP-1242: a client that says where it wants to be says both or nothing.
    is_located = (request.cluster_id is None) == (request.node_id == _NO_NODE)
    return is_located and all(_SOFTWARE_NAME.fullmatch(name) for name in names)


def _everything_served(features: FeaturesImage, version: int) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        api_keys=[_served_versions(key) for key in sorted(TABLE)],
        supported_features=[
            SupportedFeatureKey(name=name, min_version=lowest, max_version=highest)
            for name, lowest, highest in features.supported
            # KAFKA-17011: clients older than version 4 cannot read a lowest level of zero.
            if lowest > 0 or version >= 4
        ],
        finalized_features=[
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in features.finalized
            if level > 0  # Level zero means that the feature is off.
        ],
        finalized_features_epoch=features.epoch,
    )


def _served_versions(key: int) -> ApiVersion:
    served = TABLE[key]
    return ApiVersion(api_key=key, min_version=served.lowest, max_version=served.highest)
