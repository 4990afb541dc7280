"""AlterPartitionReassignments (key 45), versions 0-1, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int16, int32, int_array, string


class ReassignablePartition(Structure):
    partition_index: int = int32("0+", default=0)
    replicas: list[int] | None = int_array("int32", "0+", nullable="0+", default=None)


class ReassignableTopic(Structure):
    name: str = string("0+", default="")
    partitions: list[ReassignablePartition] = array(ReassignablePartition, "0+", default=[])


class AlterPartitionReassignmentsRequest(Request, api_key=45, versions="0-1", flexible="0+"):
    timeout_ms: int = int32("0+", default=60000)
    allow_replication_factor_change: bool = boolean("1+", default=True)
    topics: list[ReassignableTopic] = array(ReassignableTopic, "0+", default=[])


class ReassignablePartitionResponse(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")


class ReassignableTopicResponse(Structure):
    name: str = string("0+", default="")
    partitions: list[ReassignablePartitionResponse] = array(
        ReassignablePartitionResponse, "0+", default=[]
    )


class AlterPartitionReassignmentsResponse(Response, api_key=45, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    allow_replication_factor_change: bool = boolean("1+", default=True, ignorable=True)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    responses: list[ReassignableTopicResponse] = array(ReassignableTopicResponse, "0+", default=[])
