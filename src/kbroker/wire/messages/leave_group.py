"""LeaveGroup (key 13), versions 0-5, flexible from 4."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, string


class MemberIdentity(Structure):
    member_id: str = string("3+", default="")
    group_instance_id: str | None = string("3+", nullable="3+", default=None)
    reason: str | None = string("5+", nullable="5+", default=None, ignorable=True)


class LeaveGroupRequest(Request, api_key=13, versions="0-5", flexible="4+"):
    group_id: str = string("0+", default="")
    member_id: str = string("0-2", default="")
    members: list[MemberIdentity] = array(MemberIdentity, "3+", default=[])


class MemberResponse(Structure):
    member_id: str = string("3+", default="")
    group_instance_id: str | None = string("3+", nullable="3+", default="")
    error_code: int = int16("3+", default=0)


class LeaveGroupResponse(Response, api_key=13, versions="0-5", flexible="4+"):
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    error_code: int = int16("0+", default=0)
    members: list[MemberResponse] = array(MemberResponse, "3+", default=[])
