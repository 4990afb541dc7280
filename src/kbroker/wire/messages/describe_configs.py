"""DescribeConfigs (key 32), versions 1-4, flexible from 4."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int8, int16, int32, string, string_array


class DescribeConfigsResource(Structure):
    resource_type: int = int8("0+", default=0)
    resource_name: str = string("0+", default="")
    configuration_keys: list[str] | None = string_array("0+", nullable="0+", default=[])


class DescribeConfigsRequest(Request, api_key=32, versions="1-4", flexible="4+"):
    resources: list[DescribeConfigsResource] = array(DescribeConfigsResource, "0+", default=[])
    include_synonyms: bool = boolean("1+", default=False)
    include_documentation: bool = boolean("3+", default=False)


class DescribeConfigsSynonym(Structure):
    name: str = string("1+", default="")
    value: str | None = string("1+", nullable="0+", default="")
    source: int = int8("1+", default=0)


class DescribeConfigsResourceResult(Structure):
    name: str = string("0+", default="")
    value: str | None = string("0+", nullable="0+", default="")
    read_only: bool = boolean("0+", default=False)
    config_source: int = int8("1+", default=-1, ignorable=True)
    is_sensitive: bool = boolean("0+", default=False)
    synonyms: list[DescribeConfigsSynonym] = array(
        DescribeConfigsSynonym, "1+", default=[], ignorable=True
    )
    config_type: int = int8("3+", default=0, ignorable=True)
    documentation: str | None = string("3+", nullable="0+", default="", ignorable=True)


class DescribeConfigsResult(Structure):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    resource_type: int = int8("0+", default=0)
    resource_name: str = string("0+", default="")
    configs: list[DescribeConfigsResourceResult] = array(
        DescribeConfigsResourceResult, "0+", default=[]
    )


class DescribeConfigsResponse(Response, api_key=32, versions="1-4", flexible="4+"):
    throttle_time_ms: int = int32("0+", default=0)
    results: list[DescribeConfigsResult] = array(DescribeConfigsResult, "0+", default=[])
