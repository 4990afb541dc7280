"""Heartbeat (key 12), versions 0-4, flexible from 4."""

from kbroker.wire.message import Request, Response
from kbroker.wire.notation import int16, int32, string


class HeartbeatRequest(Request, api_key=12, versions="0-4", flexible="4+"):
    group_id: str = string("0+", default="")
    generation_id: int = int32("0+", default=0)
    member_id: str = string("0+", default="")
    group_instance_id: str | None = string("3+", nullable="3+", default=None)


class HeartbeatResponse(Response, api_key=12, versions="0-4", flexible="4+"):
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    error_code: int = int16("0+", default=0)
