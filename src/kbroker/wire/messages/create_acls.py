"""CreateAcls (key 30), versions 1-3, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, string


class AclCreation(Structure):
    resource_type: int = int8("0+", default=0)
    resource_name: str = string("0+", default="")
    resource_pattern_type: int = int8("1+", default=3)
    principal: str = string("0+", default="")
    host: str = string("0+", default="")
    operation: int = int8("0+", default=0)
    permission_type: int = int8("0+", default=0)


class CreateAclsRequest(Request, api_key=30, versions="1-3", flexible="2+"):
    creations: list[AclCreation] = array(AclCreation, "0+", default=[])


class AclCreationResult(Structure):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")


class CreateAclsResponse(Response, api_key=30, versions="1-3", flexible="2+"):
    throttle_time_ms: int = int32("0+", default=0)
    results: list[AclCreationResult] = array(AclCreationResult, "0+", default=[])
