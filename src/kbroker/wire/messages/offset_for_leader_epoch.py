"""OffsetForLeaderEpoch (key 23), versions 2-4, flexible from 4."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, string


class OffsetForLeaderPartition(Structure):
    partition: int = int32("0+", default=0)
    current_leader_epoch: int = int32("2+", default=-1, ignorable=True)
    leader_epoch: int = int32("0+", default=0)


class OffsetForLeaderTopic(Structure):
    topic: str = string("0+", default="")
    partitions: list[OffsetForLeaderPartition] = array(OffsetForLeaderPartition, "0+", default=[])


class OffsetForLeaderEpochRequest(Request, api_key=23, versions="2-4", flexible="4+"):
    replica_id: int = int32("3+", default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic] = array(OffsetForLeaderTopic, "0+", default=[])


class EpochEndOffset(Structure):
    error_code: int = int16("0+", default=0)
    partition: int = int32("0+", default=0)
    leader_epoch: int = int32("1+", default=-1, ignorable=True)
    end_offset: int = int64("0+", default=-1)


class OffsetForLeaderTopicResult(Structure):
    topic: str = string("0+", default="")
    partitions: list[EpochEndOffset] = array(EpochEndOffset, "0+", default=[])


class OffsetForLeaderEpochResponse(Response, api_key=23, versions="2-4", flexible="4+"):
    throttle_time_ms: int = int32("2+", default=0, ignorable=True)
    topics: list[OffsetForLeaderTopicResult] = array(OffsetForLeaderTopicResult, "0+", default=[])
