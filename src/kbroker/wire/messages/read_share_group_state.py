"""ReadShareGroupState (key 84), version 0, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, int64, string, uuid


class PartitionData(Structure):
    partition: int = int32("0+", default=0)
    leader_epoch: int = int32("0+", default=0)


class ReadStateData(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, "0+", default=[])


class ReadShareGroupStateRequest(Request, api_key=84, versions="0", flexible="0+"):
    group_id: str = string("0+", default="")
    topics: list[ReadStateData] = array(ReadStateData, "0+", default=[])


class StateBatch(Structure):
    first_offset: int = int64("0+", default=0)
    last_offset: int = int64("0+", default=0)
    delivery_state: int = int8("0+", default=0)
    delivery_count: int = int16("0+", default=0)


class PartitionResult(Structure):
    partition: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    state_epoch: int = int32("0+", default=0)
    start_offset: int = int64("0+", default=0)
    state_batches: list[StateBatch] = array(StateBatch, "0+", default=[])


class ReadStateResult(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionResult] = array(PartitionResult, "0+", default=[])


class ReadShareGroupStateResponse(Response, api_key=84, versions="0", flexible="0+"):
    results: list[ReadStateResult] = array(ReadStateResult, "0+", default=[])
