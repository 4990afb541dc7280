"""DeleteGroups (key 42), versions 0-3, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, string, string_array


class DeleteGroupsRequest(Request, api_key=42, versions="0-3", flexible="2+"):
    groups_names: list[str] = string_array("0+", default=[])


class DeletableGroupResult(Structure):
    group_id: str = string("0+", default="")
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("3+", nullable="3+", default=None, ignorable=True)


class DeleteGroupsResponse(Response, api_key=42, versions="0-3", flexible="2+"):
    throttle_time_ms: int = int32("0+", default=0)
    results: list[DeletableGroupResult] = array(DeletableGroupResult, "0+", default=[])
