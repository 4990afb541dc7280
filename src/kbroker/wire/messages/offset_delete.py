"""OffsetDelete (key 47), version 0, never flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, string


class OffsetDeleteRequestPartition(Structure):
    partition_index: int = int32("0+", default=0)


class OffsetDeleteRequestTopic(Structure):
    name: str = string("0+", default="")
    partitions: list[OffsetDeleteRequestPartition] = array(
        OffsetDeleteRequestPartition, "0+", default=[]
    )


class OffsetDeleteRequest(Request, api_key=47, versions="0", flexible="none"):
    group_id: str = string("0+", default="")
    topics: list[OffsetDeleteRequestTopic] = array(OffsetDeleteRequestTopic, "0+", default=[])


class OffsetDeleteResponsePartition(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)


class OffsetDeleteResponseTopic(Structure):
    name: str = string("0+", default="")
    partitions: list[OffsetDeleteResponsePartition] = array(
        OffsetDeleteResponsePartition, "0+", default=[]
    )


class OffsetDeleteResponse(Response, api_key=47, versions="0", flexible="none"):
    error_code: int = int16("0+", default=0)
    throttle_time_ms: int = int32("0+", default=0, ignorable=True)
    topics: list[OffsetDeleteResponseTopic] = array(OffsetDeleteResponseTopic, "0+", default=[])
