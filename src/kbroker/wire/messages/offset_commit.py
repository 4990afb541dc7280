"""OffsetCommit (key 8), versions 2-10, flexible from 8."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, string, uuid


class OffsetCommitRequestPartition(Structure):
    partition_index: int = int32("0+", default=0)
    committed_offset: int = int64("0+", default=0)
    committed_leader_epoch: int = int32("6+", default=-1, ignorable=True)
    committed_metadata: str | None = string("0+", nullable="0+", default="")


class OffsetCommitRequestTopic(Structure):
    name: str = string("0-9", default="", ignorable=True)
    topic_id: Uuid = uuid("10+", default=ZERO_UUID, ignorable=True)
    partitions: list[OffsetCommitRequestPartition] = array(
        OffsetCommitRequestPartition, "0+", default=[]
    )


class OffsetCommitRequest(Request, api_key=8, versions="2-10", flexible="8+"):
    group_id: str = string("0+", default="")
    generation_id_or_member_epoch: int = int32("1+", default=-1, ignorable=True)
    member_id: str = string("1+", default="", ignorable=True)
    group_instance_id: str | None = string("7+", nullable="7+", default=None)
    retention_time_ms: int = int64("2-4", default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic] = array(OffsetCommitRequestTopic, "0+", default=[])


class OffsetCommitResponsePartition(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)


class OffsetCommitResponseTopic(Structure):
    name: str = string("0-9", default="", ignorable=True)
    topic_id: Uuid = uuid("10+", default=ZERO_UUID, ignorable=True)
    partitions: list[OffsetCommitResponsePartition] = array(
        OffsetCommitResponsePartition, "0+", default=[]
    )


class OffsetCommitResponse(Response, api_key=8, versions="2-10", flexible="8+"):
    throttle_time_ms: int = int32("3+", default=0, ignorable=True)
    topics: list[OffsetCommitResponseTopic] = array(OffsetCommitResponseTopic, "0+", default=[])
