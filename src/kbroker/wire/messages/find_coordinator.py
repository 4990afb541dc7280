"""FindCoordinator (key 10), versions 0-6, flexible from 3."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, string, string_array


class FindCoordinatorRequest(Request, api_key=10, versions="0-6", flexible="3+"):
    key: str = string("0-3", default="")
    key_type: int = int8("1+", default=0)
    coordinator_keys: list[str] = string_array("4+", default=[])


class Coordinator(Structure):
    key: str = string("4+", default="")
    node_id: int = int32("4+", default=0)
    host: str = string("4+", default="")
    port: int = int32("4+", default=0)
    error_code: int = int16("4+", default=0)
    error_message: str | None = string("4+", nullable="4+", default="", ignorable=True)


class FindCoordinatorResponse(Response, api_key=10, versions="0-6", flexible="3+"):
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    error_code: int = int16("0-3", default=0)
    error_message: str | None = string("1-3", nullable="1-3", default="", ignorable=True)
    node_id: int = int32("0-3", default=0)
    host: str = string("0-3", default="")
    port: int = int32("0-3", default=0)
    coordinators: list[Coordinator] = array(Coordinator, "4+", default=[])
