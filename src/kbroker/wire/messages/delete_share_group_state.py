"""DeleteShareGroupState (key 86), version 0, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, string, uuid


class PartitionData(Structure):
    partition: int = int32("0+", default=0)


class DeleteStateData(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, "0+", default=[])


class DeleteShareGroupStateRequest(Request, api_key=86, versions="0", flexible="0+"):
    group_id: str = string("0+", default="")
    topics: list[DeleteStateData] = array(DeleteStateData, "0+", default=[])


class PartitionResult(Structure):
    partition: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)


class DeleteStateResult(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionResult] = array(PartitionResult, "0+", default=[])


class DeleteShareGroupStateResponse(Response, api_key=86, versions="0", flexible="0+"):
    results: list[DeleteStateResult] = array(DeleteStateResult, "0+", default=[])
