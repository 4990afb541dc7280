"""TxnOffsetCommit (key 28), versions 0-6, flexible from 3."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, string, uuid


class TxnOffsetCommitRequestPartition(Structure):
    partition_index: int = int32("0+", default=0)
    committed_offset: int = int64("0+", default=0)
    committed_leader_epoch: int = int32("2+", default=-1, ignorable=True)
    committed_metadata: str | None = string("0+", nullable="0+", default="")


class TxnOffsetCommitRequestTopic(Structure):
    name: str = string("0-5", default="", ignorable=True)
    topic_id: Uuid = uuid("6+", default=ZERO_UUID, ignorable=True)
    partitions: list[TxnOffsetCommitRequestPartition] = array(
        TxnOffsetCommitRequestPartition, "0+", default=[]
    )


class TxnOffsetCommitRequest(Request, api_key=28, versions="0-6", flexible="3+"):
    transactional_id: str = string("0+", default="")
    group_id: str = string("0+", default="")
    producer_id: int = int64("0+", default=0)
    producer_epoch: int = int16("0+", default=0)
    generation_id_or_member_epoch: int = int32("3+", default=-1)
    member_id: str = string("3+", default="")
    group_instance_id: str | None = string("3+", nullable="3+", default=None)
    topics: list[TxnOffsetCommitRequestTopic] = array(TxnOffsetCommitRequestTopic, "0+", default=[])


class TxnOffsetCommitResponsePartition(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)


class TxnOffsetCommitResponseTopic(Structure):
    name: str = string("0-5", default="", ignorable=True)
    topic_id: Uuid = uuid("6+", default=ZERO_UUID, ignorable=True)
    partitions: list[TxnOffsetCommitResponsePartition] = array(
        TxnOffsetCommitResponsePartition, "0+", default=[]
    )


class TxnOffsetCommitResponse(Response, api_key=28, versions="0-6", flexible="3+"):
    throttle_time_ms: int = int32("0+", default=0)
    topics: list[TxnOffsetCommitResponseTopic] = array(
        TxnOffsetCommitResponseTopic, "0+", default=[]
    )
