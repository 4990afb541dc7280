"""WriteShareGroupState (key 85), versions 0-1, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, int64, string, uuid


class StateBatch(Structure):
    first_offset: int = int64("0+", default=0)
    last_offset: int = int64("0+", default=0)
    delivery_state: int = int8("0+", default=0)
    delivery_count: int = int16("0+", default=0)


class PartitionData(Structure):
    partition: int = int32("0+", default=0)
    state_epoch: int = int32("0+", default=0)
    leader_epoch: int = int32("0+", default=0)
    start_offset: int = int64("0+", default=0)
    delivery_complete_count: int = int32("1+", default=-1, ignorable=True)
    state_batches: list[StateBatch] = array(StateBatch, "0+", default=[])


class WriteStateData(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, "0+", default=[])


class WriteShareGroupStateRequest(Request, api_key=85, versions="0-1", flexible="0+"):
    group_id: str = string("0+", default="")
    topics: list[WriteStateData] = array(WriteStateData, "0+", default=[])


class PartitionResult(Structure):
    partition: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)


class WriteStateResult(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionResult] = array(PartitionResult, "0+", default=[])


class WriteShareGroupStateResponse(Response, api_key=85, versions="0-1", flexible="0+"):
    results: list[WriteStateResult] = array(WriteStateResult, "0+", default=[])
