"""SyncGroup (key 14), versions 0-5, flexible from 4."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, data, int16, int32, string


class SyncGroupRequestAssignment(Structure):
    member_id: str = string("0+", default="")
    assignment: bytes = data("0+", default=b"")


class SyncGroupRequest(Request, api_key=14, versions="0-5", flexible="4+"):
    group_id: str = string("0+", default="")
    generation_id: int = int32("0+", default=0)
    member_id: str = string("0+", default="")
    group_instance_id: str | None = string("3+", nullable="3+", default=None)
    protocol_type: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment] = array(
        SyncGroupRequestAssignment, "0+", default=[]
    )


class SyncGroupResponse(Response, api_key=14, versions="0-5", flexible="4+"):
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    error_code: int = int16("0+", default=0)
    protocol_type: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    protocol_name: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    assignment: bytes = data("0+", default=b"")
