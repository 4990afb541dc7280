"""DescribeShareGroupOffsets (key 90), versions 0-1, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, int_array, string, uuid


class DescribeShareGroupOffsetsRequestTopic(Structure):
    topic_name: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class DescribeShareGroupOffsetsRequestGroup(Structure):
    group_id: str = string("0+", default="")
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = array(
        DescribeShareGroupOffsetsRequestTopic, "0+", nullable="0+", default=[]
    )


class DescribeShareGroupOffsetsRequest(Request, api_key=90, versions="0-1", flexible="0+"):
    groups: list[DescribeShareGroupOffsetsRequestGroup] = array(
        DescribeShareGroupOffsetsRequestGroup, "0+", default=[]
    )


class DescribeShareGroupOffsetsResponsePartition(Structure):
    partition_index: int = int32("0+", default=0)
    start_offset: int = int64("0+", default=0)
    leader_epoch: int = int32("0+", default=0)
    lag: int = int64("1+", default=-1, ignorable=True)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)


class DescribeShareGroupOffsetsResponseTopic(Structure):
    topic_name: str = string("0+", default="")
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = array(
        DescribeShareGroupOffsetsResponsePartition, "0+", default=[]
    )


class DescribeShareGroupOffsetsResponseGroup(Structure):
    group_id: str = string("0+", default="")
    topics: list[DescribeShareGroupOffsetsResponseTopic] = array(
        DescribeShareGroupOffsetsResponseTopic, "0+", default=[]
    )
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)


class DescribeShareGroupOffsetsResponse(Response, api_key=90, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    groups: list[DescribeShareGroupOffsetsResponseGroup] = array(
        DescribeShareGroupOffsetsResponseGroup, "0+", default=[]
    )
