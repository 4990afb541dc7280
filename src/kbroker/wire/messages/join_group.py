"""JoinGroup (key 11), versions 0-9, flexible from 6."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, data, int16, int32, string


class JoinGroupRequestProtocol(Structure):
    name: str = string("0+", default="")
    metadata: bytes = data("0+", default=b"")


class JoinGroupRequest(Request, api_key=11, versions="0-9", flexible="6+"):
    group_id: str = string("0+", default="")
    session_timeout_ms: int = int32("0+", default=0)
    rebalance_timeout_ms: int = int32("1+", default=-1, ignorable=True)
    member_id: str = string("0+", default="")
    group_instance_id: str | None = string("5+", nullable="5+", default=None)
    protocol_type: str = string("0+", default="")
    protocols: list[JoinGroupRequestProtocol] = array(JoinGroupRequestProtocol, "0+", default=[])
    reason: str | None = string("8+", nullable="8+", default=None, ignorable=True)


class JoinGroupResponseMember(Structure):
    member_id: str = string("0+", default="")
    group_instance_id: str | None = string("5+", nullable="5+", default=None, ignorable=True)
    metadata: bytes = data("0+", default=b"")


class JoinGroupResponse(Response, api_key=11, versions="0-9", flexible="6+"):
    throttle_time_ms: int = int32("2+", default=0, ignorable=True)
    error_code: int = int16("0+", default=0)
    generation_id: int = int32("0+", default=-1)
    protocol_type: str | None = string("7+", nullable="7+", default=None, ignorable=True)
    protocol_name: str | None = string("0+", nullable="7+", default="")
    leader: str = string("0+", default="")
    skip_assignment: bool = boolean("9+", default=False)
    member_id: str = string("0+", default="")
    members: list[JoinGroupResponseMember] = array(JoinGroupResponseMember, "0+", default=[])
