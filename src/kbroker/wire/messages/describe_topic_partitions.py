"""DescribeTopicPartitions (key 75), version 0, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int16, int32, int_array, string, structure, uuid


class TopicRequest(Structure):
    name: str = string("0+", default="")


class RequestCursor(Structure):
    topic_name: str = string("0+", default="")
    partition_index: int = int32("0+", default=0)


class DescribeTopicPartitionsRequest(Request, api_key=75, versions="0", flexible="0+"):
    topics: list[TopicRequest] = array(TopicRequest, "0+", default=[])
    response_partition_limit: int = int32("0+", default=2000)
    cursor: RequestCursor | None = structure(RequestCursor, "0+", nullable="0+", default=None)


class DescribeTopicPartitionsResponsePartition(Structure):
    error_code: int = int16("0+", default=0)
    partition_index: int = int32("0+", default=0)
    leader_id: int = int32("0+", default=0)
    leader_epoch: int = int32("0+", default=-1, ignorable=True)
    replica_nodes: list[int] = int_array("int32", "0+", default=[])
    isr_nodes: list[int] = int_array("int32", "0+", default=[])
    eligible_leader_replicas: list[int] | None = int_array(
        "int32", "0+", nullable="0+", default=None
    )
    last_known_elr: list[int] | None = int_array("int32", "0+", nullable="0+", default=None)
    offline_replicas: list[int] = int_array("int32", "0+", default=[], ignorable=True)


class DescribeTopicPartitionsResponseTopic(Structure):
    error_code: int = int16("0+", default=0)
    name: str | None = string("0+", nullable="0+", default="")
    topic_id: Uuid = uuid("0+", default=ZERO_UUID, ignorable=True)
    is_internal: bool = boolean("0+", default=False, ignorable=True)
    partitions: list[DescribeTopicPartitionsResponsePartition] = array(
        DescribeTopicPartitionsResponsePartition, "0+", default=[]
    )
    topic_authorized_operations: int = int32("0+", default=-2147483648)


class ResponseCursor(Structure):
    topic_name: str = string("0+", default="")
    partition_index: int = int32("0+", default=0)


class DescribeTopicPartitionsResponse(Response, api_key=75, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0, ignorable=True)
    topics: list[DescribeTopicPartitionsResponseTopic] = array(
        DescribeTopicPartitionsResponseTopic, "0+", default=[]
    )
    next_cursor: ResponseCursor | None = structure(
        ResponseCursor, "0+", nullable="0+", default=None
    )
