"""PushTelemetry (key 72), version 0, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response
from kbroker.wire.notation import boolean, data, int8, int16, int32, uuid


class PushTelemetryRequest(Request, api_key=72, versions="0", flexible="0+"):
    client_instance_id: Uuid = uuid("0+", default=ZERO_UUID)
    subscription_id: int = int32("0+", default=0)
    terminating: bool = boolean("0+", default=False)
    compression_type: int = int8("0+", default=0)
    metrics: bytes = data("0+", default=b"")


class PushTelemetryResponse(Response, api_key=72, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
