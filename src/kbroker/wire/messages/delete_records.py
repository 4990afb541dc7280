"""DeleteRecords (key 21), versions 0-2, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, string


class DeleteRecordsPartition(Structure):
    partition_index: int = int32("0+", default=0)
    offset: int = int64("0+", default=0)


class DeleteRecordsTopic(Structure):
    name: str = string("0+", default="")
    partitions: list[DeleteRecordsPartition] = array(DeleteRecordsPartition, "0+", default=[])


class DeleteRecordsRequest(Request, api_key=21, versions="0-2", flexible="2+"):
    topics: list[DeleteRecordsTopic] = array(DeleteRecordsTopic, "0+", default=[])
    timeout_ms: int = int32("0+", default=0)


class DeleteRecordsPartitionResult(Structure):
    partition_index: int = int32("0+", default=0)
    low_watermark: int = int64("0+", default=0)
    error_code: int = int16("0+", default=0)


class DeleteRecordsTopicResult(Structure):
    name: str = string("0+", default="")
    partitions: list[DeleteRecordsPartitionResult] = array(
        DeleteRecordsPartitionResult, "0+", default=[]
    )


class DeleteRecordsResponse(Response, api_key=21, versions="0-2", flexible="2+"):
    throttle_time_ms: int = int32("0+", default=0)
    topics: list[DeleteRecordsTopicResult] = array(DeleteRecordsTopicResult, "0+", default=[])
