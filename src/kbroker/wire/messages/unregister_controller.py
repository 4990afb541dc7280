"""UnregisterController (key 94), version 0, always flexible."""

from kbroker.wire.message import Request, Response
from kbroker.wire.notation import int16, int32, string


class UnregisterControllerRequest(Request, api_key=94, versions="0", flexible="0+"):
    controller_id: int = int32("0+", default=0)


class UnregisterControllerResponse(Response, api_key=94, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
