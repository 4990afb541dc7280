"""ListPartitionReassignments (key 46), version 0, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int_array, string


class ListPartitionReassignmentsTopics(Structure):
    name: str = string("0+", default="")
    partition_indexes: list[int] = int_array("int32", "0+", default=[])


class ListPartitionReassignmentsRequest(Request, api_key=46, versions="0", flexible="0+"):
    timeout_ms: int = int32("0+", default=60000)
    topics: list[ListPartitionReassignmentsTopics] | None = array(
        ListPartitionReassignmentsTopics, "0+", nullable="0+", default=None
    )


class OngoingPartitionReassignment(Structure):
    partition_index: int = int32("0+", default=0)
    replicas: list[int] = int_array("int32", "0+", default=[])
    adding_replicas: list[int] = int_array("int32", "0+", default=[])
    removing_replicas: list[int] = int_array("int32", "0+", default=[])


class OngoingTopicReassignment(Structure):
    name: str = string("0+", default="")
    partitions: list[OngoingPartitionReassignment] = array(
        OngoingPartitionReassignment, "0+", default=[]
    )


class ListPartitionReassignmentsResponse(Response, api_key=46, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    topics: list[OngoingTopicReassignment] = array(OngoingTopicReassignment, "0+", default=[])
