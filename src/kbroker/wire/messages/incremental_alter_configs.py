"""IncrementalAlterConfigs (key 44), versions 0-1, flexible from 1."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int8, int16, int32, string


class AlterableConfig(Structure):
    name: str = string("0+", default="")
    config_operation: int = int8("0+", default=0)
    value: str | None = string("0+", nullable="0+", default="")


class AlterConfigsResource(Structure):
    resource_type: int = int8("0+", default=0)
    resource_name: str = string("0+", default="")
    configs: list[AlterableConfig] = array(AlterableConfig, "0+", default=[])


class IncrementalAlterConfigsRequest(Request, api_key=44, versions="0-1", flexible="1+"):
    resources: list[AlterConfigsResource] = array(AlterConfigsResource, "0+", default=[])
    validate_only: bool = boolean("0+", default=False)


class AlterConfigsResourceResponse(Structure):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    resource_type: int = int8("0+", default=0)
    resource_name: str = string("0+", default="")


class IncrementalAlterConfigsResponse(Response, api_key=44, versions="0-1", flexible="1+"):
    throttle_time_ms: int = int32("0+", default=0)
    responses: list[AlterConfigsResourceResponse] = array(
        AlterConfigsResourceResponse, "0+", default=[]
    )
