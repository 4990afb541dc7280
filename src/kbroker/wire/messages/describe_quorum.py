"""DescribeQuorum (key 55), versions 0-2, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int64, string, uint16, uuid


class RequestPartitionData(Structure):
    partition_index: int = int32("0+", default=0)


class RequestTopicData(Structure):
    topic_name: str = string("0+", default="")
    partitions: list[RequestPartitionData] = array(RequestPartitionData, "0+", default=[])


class DescribeQuorumRequest(Request, api_key=55, versions="0-2", flexible="0+"):
    topics: list[RequestTopicData] = array(RequestTopicData, "0+", default=[])


class ReplicaState(Structure):
    replica_id: int = int32("0+", default=0)
    replica_directory_id: Uuid = uuid("2+", default=ZERO_UUID)
    log_end_offset: int = int64("0+", default=0)
    last_fetch_timestamp: int = int64("1+", default=-1, ignorable=True)
    last_caught_up_timestamp: int = int64("1+", default=-1, ignorable=True)


class ResponsePartitionData(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("2+", nullable="2+", default="", ignorable=True)
    leader_id: int = int32("0+", default=0)
    leader_epoch: int = int32("0+", default=0)
    high_watermark: int = int64("0+", default=0)
    current_voters: list[ReplicaState] = array(ReplicaState, "0+", default=[])
    observers: list[ReplicaState] = array(ReplicaState, "0+", default=[])


class ResponseTopicData(Structure):
    topic_name: str = string("0+", default="")
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData, "0+", default=[])


class Listener(Structure):
    name: str = string("2+", default="")
    host: str = string("2+", default="")
    port: int = uint16("2+", default=0)


class Node(Structure):
    node_id: int = int32("2+", default=0)
    listeners: list[Listener] = array(Listener, "2+", default=[])


class DescribeQuorumResponse(Response, api_key=55, versions="0-2", flexible="0+"):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("2+", nullable="2+", default="", ignorable=True)
    topics: list[ResponseTopicData] = array(ResponseTopicData, "0+", default=[])
    nodes: list[Node] = array(Node, "2+", default=[])
