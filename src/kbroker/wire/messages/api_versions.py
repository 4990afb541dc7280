"""ApiVersions (key 18), versions 0-5, flexible from 3."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int16, int32, int64, string


class ApiVersionsRequest(Request, api_key=18, versions="0-5", flexible="3+"):
    client_software_name: str = string("3+", default="", ignorable=True)
    client_software_version: str = string("3+", default="", ignorable=True)
    cluster_id: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    node_id: int = int32("5+", default=-1, ignorable=True)


class ApiVersion(Structure):
    api_key: int = int16("0+", default=0)
    min_version: int = int16("0+", default=0)
    max_version: int = int16("0+", default=0)


class SupportedFeatureKey(Structure):
    name: str = string("3+", default="")
    min_version: int = int16("3+", default=0)
    max_version: int = int16("3+", default=0)


class FinalizedFeatureKey(Structure):
    name: str = string("3+", default="")
    max_version_level: int = int16("3+", default=0)
    min_version_level: int = int16("3+", default=0)


class ApiVersionsResponse(Response, api_key=18, versions="0-5", flexible="3+"):
    error_code: int = int16("0+", default=0)
    api_keys: list[ApiVersion] = array(ApiVersion, "0+", default=[])
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    supported_features: list[SupportedFeatureKey] = array(
        SupportedFeatureKey, "3+", default=[], tag=0, ignorable=True
    )
    finalized_features_epoch: int = int64("3+", default=-1, tag=1, ignorable=True)
    finalized_features: list[FinalizedFeatureKey] = array(
        FinalizedFeatureKey, "3+", default=[], tag=2, ignorable=True
    )
    zk_migration_ready: bool = boolean("3+", default=False, tag=3, ignorable=True)
