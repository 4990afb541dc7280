"""ListConfigResources (key 74), versions 0-1, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, int_array, string


class ListConfigResourcesRequest(Request, api_key=74, versions="0-1", flexible="0+"):
    resource_types: list[int] = int_array("int8", "1+", default=[])


class ConfigResource(Structure):
    resource_name: str = string("0+", default="")
    resource_type: int = int8("1+", default=16, ignorable=True)


class ListConfigResourcesResponse(Response, api_key=74, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    config_resources: list[ConfigResource] = array(ConfigResource, "0+", default=[])
