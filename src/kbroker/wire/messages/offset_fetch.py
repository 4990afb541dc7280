"""OffsetFetch (key 9), versions 1-10, flexible from 6."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int16, int32, int64, int_array, string, uuid


class OffsetFetchRequestTopic(Structure):
    name: str = string("0-7", default="")
    partition_indexes: list[int] = int_array("int32", "0-7", default=[])


class OffsetFetchRequestTopics(Structure):
    name: str = string("8-9", default="", ignorable=True)
    topic_id: Uuid = uuid("10+", default=ZERO_UUID, ignorable=True)
    partition_indexes: list[int] = int_array("int32", "8+", default=[])


class OffsetFetchRequestGroup(Structure):
    group_id: str = string("8+", default="")
    member_id: str | None = string("9+", nullable="9+", default=None, ignorable=True)
    member_epoch: int = int32("9+", default=-1, ignorable=True)
    topics: list[OffsetFetchRequestTopics] | None = array(
        OffsetFetchRequestTopics, "8+", nullable="8+", default=[]
    )


class OffsetFetchRequest(Request, api_key=9, versions="1-10", flexible="6+"):
    group_id: str = string("0-7", default="")
    topics: list[OffsetFetchRequestTopic] | None = array(
        OffsetFetchRequestTopic, "0-7", nullable="2-7", default=[]
    )
    groups: list[OffsetFetchRequestGroup] = array(OffsetFetchRequestGroup, "8+", default=[])
    require_stable: bool = boolean("7+", default=False)


class OffsetFetchResponsePartition(Structure):
    partition_index: int = int32("0-7", default=0)
    committed_offset: int = int64("0-7", default=0)
    committed_leader_epoch: int = int32("5-7", default=-1, ignorable=True)
    metadata: str | None = string("0-7", nullable="0-7", default="")
    error_code: int = int16("0-7", default=0)


class OffsetFetchResponseTopic(Structure):
    name: str = string("0-7", default="")
    partitions: list[OffsetFetchResponsePartition] = array(
        OffsetFetchResponsePartition, "0-7", default=[]
    )


class OffsetFetchResponsePartitions(Structure):
    partition_index: int = int32("8+", default=0)
    committed_offset: int = int64("8+", default=0)
    committed_leader_epoch: int = int32("8+", default=-1, ignorable=True)
    metadata: str | None = string("8+", nullable="8+", default="")
    error_code: int = int16("8+", default=0)


class OffsetFetchResponseTopics(Structure):
    name: str = string("8-9", default="", ignorable=True)
    topic_id: Uuid = uuid("10+", default=ZERO_UUID, ignorable=True)
    partitions: list[OffsetFetchResponsePartitions] = array(
        OffsetFetchResponsePartitions, "8+", default=[]
    )


class OffsetFetchResponseGroup(Structure):
    group_id: str = string("8+", default="")
    topics: list[OffsetFetchResponseTopics] = array(OffsetFetchResponseTopics, "8+", default=[])
    error_code: int = int16("8+", default=0)


class OffsetFetchResponse(Response, api_key=9, versions="1-10", flexible="6+"):
    throttle_time_ms: int = int32("3+", default=0, ignorable=True)
    topics: list[OffsetFetchResponseTopic] = array(OffsetFetchResponseTopic, "0-7", default=[])
    error_code: int = int16("2-7", default=0, ignorable=True)
    groups: list[OffsetFetchResponseGroup] = array(OffsetFetchResponseGroup, "8+", default=[])
