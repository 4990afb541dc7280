"""DescribeProducers (key 61), version 0, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, int_array, string


class TopicRequest(Structure):
    name: str = string("0+", default="")
    partition_indexes: list[int] = int_array("int32", "0+", default=[])


class DescribeProducersRequest(Request, api_key=61, versions="0", flexible="0+"):
    topics: list[TopicRequest] = array(TopicRequest, "0+", default=[])


class ProducerState(Structure):
    producer_id: int = int64("0+", default=0)
    producer_epoch: int = int32("0+", default=0)
    last_sequence: int = int32("0+", default=-1)
    last_timestamp: int = int64("0+", default=-1)
    coordinator_epoch: int = int32("0+", default=0)
    current_txn_start_offset: int = int64("0+", default=-1)


class PartitionResponse(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    active_producers: list[ProducerState] = array(ProducerState, "0+", default=[])


class TopicResponse(Structure):
    name: str = string("0+", default="")
    partitions: list[PartitionResponse] = array(PartitionResponse, "0+", default=[])


class DescribeProducersResponse(Response, api_key=61, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    topics: list[TopicResponse] = array(TopicResponse, "0+", default=[])
