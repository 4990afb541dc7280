"""DescribeCluster (key 60), versions 0-2, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int8, int16, int32, string


class DescribeClusterRequest(Request, api_key=60, versions="0-2", flexible="0+"):
    include_cluster_authorized_operations: bool = boolean("0+", default=False)
    endpoint_type: int = int8("1+", default=1)
    include_fenced_brokers: bool = boolean("2+", default=False)


class DescribeClusterBroker(Structure):
    broker_id: int = int32("0+", default=0)
    host: str = string("0+", default="")
    port: int = int32("0+", default=0)
    rack: str | None = string("0+", nullable="0+", default=None)
    is_fenced: bool = boolean("2+", default=False)


class DescribeClusterResponse(Response, api_key=60, versions="0-2", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    endpoint_type: int = int8("1+", default=1)
    cluster_id: str = string("0+", default="")
    controller_id: int = int32("0+", default=-1)
    brokers: list[DescribeClusterBroker] = array(DescribeClusterBroker, "0+", default=[])
    cluster_authorized_operations: int = int32("0+", default=-2147483648)
