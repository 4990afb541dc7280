"""DescribeGroups (key 15), versions 0-6, flexible from 5."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, data, int16, int32, string, string_array


class DescribeGroupsRequest(Request, api_key=15, versions="0-6", flexible="5+"):
    groups: list[str] = string_array("0+", default=[])
    include_authorized_operations: bool = boolean("3+", default=False)


class DescribedGroupMember(Structure):
    member_id: str = string("0+", default="")
    group_instance_id: str | None = string("4+", nullable="4+", default=None, ignorable=True)
    client_id: str = string("0+", default="")
    client_host: str = string("0+", default="")
    member_metadata: bytes = data("0+", default=b"")
    member_assignment: bytes = data("0+", default=b"")


class DescribedGroup(Structure):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("6+", nullable="6+", default=None)
    group_id: str = string("0+", default="")
    group_state: str = string("0+", default="")
    protocol_type: str = string("0+", default="")
    protocol_data: str = string("0+", default="")
    members: list[DescribedGroupMember] = array(DescribedGroupMember, "0+", default=[])
    authorized_operations: int = int32("3+", default=-2147483648)


class DescribeGroupsResponse(Response, api_key=15, versions="0-6", flexible="5+"):
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    groups: list[DescribedGroup] = array(DescribedGroup, "0+", default=[])
