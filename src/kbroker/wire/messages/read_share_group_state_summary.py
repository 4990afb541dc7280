"""ReadShareGroupStateSummary (key 87), versions 0-1, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, string, uuid


class PartitionData(Structure):
    partition: int = int32("0+", default=0)
    leader_epoch: int = int32("0+", default=0)


class ReadStateSummaryData(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, "0+", default=[])


class ReadShareGroupStateSummaryRequest(Request, api_key=87, versions="0-1", flexible="0+"):
    group_id: str = string("0+", default="")
    topics: list[ReadStateSummaryData] = array(ReadStateSummaryData, "0+", default=[])


class PartitionResult(Structure):
    partition: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    state_epoch: int = int32("0+", default=0)
    leader_epoch: int = int32("0+", default=0)
    start_offset: int = int64("0+", default=0)
    delivery_complete_count: int = int32("1+", default=-1, ignorable=True)


class ReadStateSummaryResult(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionResult] = array(PartitionResult, "0+", default=[])


class ReadShareGroupStateSummaryResponse(Response, api_key=87, versions="0-1", flexible="0+"):
    results: list[ReadStateSummaryResult] = array(ReadStateSummaryResult, "0+", default=[])
