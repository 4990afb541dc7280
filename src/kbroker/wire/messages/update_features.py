"""UpdateFeatures (key 57), versions 0-2, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int8, int16, int32, string


class FeatureUpdateKey(Structure):
    feature: str = string("0+", default="")
    max_version_level: int = int16("0+", default=0)
    allow_downgrade: bool = boolean("0", default=False)
    upgrade_type: int = int8("1+", default=1)


class UpdateFeaturesRequest(Request, api_key=57, versions="0-2", flexible="0+"):
    timeout_ms: int = int32("0+", default=60000)
    feature_updates: list[FeatureUpdateKey] = array(FeatureUpdateKey, "0+", default=[])
    validate_only: bool = boolean("1+", default=False)


class UpdatableFeatureResult(Structure):
    feature: str = string("0+", default="")
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")


class UpdateFeaturesResponse(Response, api_key=57, versions="0-2", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    results: list[UpdatableFeatureResult] = array(
        UpdatableFeatureResult, "0-1", default=[], ignorable=True
    )
