"""ListGroups (key 16), versions 0-5, flexible from 3."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, string, string_array


class ListGroupsRequest(Request, api_key=16, versions="0-5", flexible="3+"):
    states_filter: list[str] = string_array("4+", default=[])
    types_filter: list[str] = string_array("5+", default=[])


class ListedGroup(Structure):
    group_id: str = string("0+", default="")
    protocol_type: str = string("0+", default="")
    group_state: str = string("4+", default="", ignorable=True)
    group_type: str = string("5+", default="", ignorable=True)


class ListGroupsResponse(Response, api_key=16, versions="0-5", flexible="3+"):
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    error_code: int = int16("0+", default=0)
    groups: list[ListedGroup] = array(ListedGroup, "0+", default=[])
