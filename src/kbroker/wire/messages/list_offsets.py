"""ListOffsets (key 2), versions 1-11, flexible from 6."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, int64, string


class ListOffsetsPartition(Structure):
    partition_index: int = int32("0+", default=0)
    current_leader_epoch: int = int32("4+", default=-1, ignorable=True)
    timestamp: int = int64("0+", default=0)


class ListOffsetsTopic(Structure):
    name: str = string("0+", default="")
    partitions: list[ListOffsetsPartition] = array(ListOffsetsPartition, "0+", default=[])


class ListOffsetsRequest(Request, api_key=2, versions="1-11", flexible="6+"):
    replica_id: int = int32("0+", default=0)
    isolation_level: int = int8("2+", default=0)
    topics: list[ListOffsetsTopic] = array(ListOffsetsTopic, "0+", default=[])
    timeout_ms: int = int32("10+", default=0, ignorable=True)


class ListOffsetsPartitionResponse(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    timestamp: int = int64("1+", default=-1)
    offset: int = int64("1+", default=-1)
    leader_epoch: int = int32("4+", default=-1)


class ListOffsetsTopicResponse(Structure):
    name: str = string("0+", default="")
    partitions: list[ListOffsetsPartitionResponse] = array(
        ListOffsetsPartitionResponse, "0+", default=[]
    )


class ListOffsetsResponse(Response, api_key=2, versions="1-11", flexible="6+"):
    throttle_time_ms: int = int32("2+", default=0, ignorable=True)
    topics: list[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse, "0+", default=[])
