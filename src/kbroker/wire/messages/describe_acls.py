"""DescribeAcls (key 29), versions 1-3, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, string


class DescribeAclsRequest(Request, api_key=29, versions="1-3", flexible="2+"):
    resource_type_filter: int = int8("0+", default=0)
    resource_name_filter: str | None = string("0+", nullable="0+", default="")
    pattern_type_filter: int = int8("1+", default=3)
    principal_filter: str | None = string("0+", nullable="0+", default="")
    host_filter: str | None = string("0+", nullable="0+", default="")
    operation: int = int8("0+", default=0)
    permission_type: int = int8("0+", default=0)


class AclDescription(Structure):
    principal: str = string("0+", default="")
    host: str = string("0+", default="")
    operation: int = int8("0+", default=0)
    permission_type: int = int8("0+", default=0)


class DescribeAclsResource(Structure):
    resource_type: int = int8("0+", default=0)
    resource_name: str = string("0+", default="")
    pattern_type: int = int8("1+", default=3)
    acls: list[AclDescription] = array(AclDescription, "0+", default=[])


class DescribeAclsResponse(Response, api_key=29, versions="1-3", flexible="2+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    resources: list[DescribeAclsResource] = array(DescribeAclsResource, "0+", default=[])
