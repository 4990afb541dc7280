"""GetTelemetrySubscriptions (key 71), version 0, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response
from kbroker.wire.notation import boolean, int16, int32, int_array, string_array, uuid


class GetTelemetrySubscriptionsRequest(Request, api_key=71, versions="0", flexible="0+"):
    client_instance_id: Uuid = uuid("0+", default=ZERO_UUID)


class GetTelemetrySubscriptionsResponse(Response, api_key=71, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    client_instance_id: Uuid = uuid("0+", default=ZERO_UUID)
    subscription_id: int = int32("0+", default=0)
    accepted_compression_types: list[int] = int_array("int8", "0+", default=[])
    push_interval_ms: int = int32("0+", default=0)
    telemetry_max_bytes: int = int32("0+", default=0)
    delta_temporality: bool = boolean("0+", default=False)
    requested_metrics: list[str] = string_array("0+", default=[])
