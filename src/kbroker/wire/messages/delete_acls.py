"""DeleteAcls (key 31), versions 1-3, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, string


class DeleteAclsFilter(Structure):
    resource_type_filter: int = int8("0+", default=0)
    resource_name_filter: str | None = string("0+", nullable="0+", default="")
    pattern_type_filter: int = int8("1+", default=3)
    principal_filter: str | None = string("0+", nullable="0+", default="")
    host_filter: str | None = string("0+", nullable="0+", default="")
    operation: int = int8("0+", default=0)
    permission_type: int = int8("0+", default=0)


class DeleteAclsRequest(Request, api_key=31, versions="1-3", flexible="2+"):
    filters: list[DeleteAclsFilter] = array(DeleteAclsFilter, "0+", default=[])


class DeleteAclsMatchingAcl(Structure):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    resource_type: int = int8("0+", default=0)
    resource_name: str = string("0+", default="")
    pattern_type: int = int8("1+", default=3)
    principal: str = string("0+", default="")
    host: str = string("0+", default="")
    operation: int = int8("0+", default=0)
    permission_type: int = int8("0+", default=0)


class DeleteAclsFilterResult(Structure):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    matching_acls: list[DeleteAclsMatchingAcl] = array(DeleteAclsMatchingAcl, "0+", default=[])


class DeleteAclsResponse(Response, api_key=31, versions="1-3", flexible="2+"):
    throttle_time_ms: int = int32("0+", default=0)
    filter_results: list[DeleteAclsFilterResult] = array(DeleteAclsFilterResult, "0+", default=[])
