"""Produce (key 0), versions 3-13, flexible from 9."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import Part, array, int16, int32, int64, records, string, structure, uuid


class PartitionProduceData(Structure):
    index: int = int32("0+", default=0)
    records: Part | None = records("0+", nullable="0+", default=None)


class TopicProduceData(Structure):
    name: str = string("0-12", default="", ignorable=True)
    topic_id: Uuid = uuid("13+", default=ZERO_UUID, ignorable=True)
    partition_data: list[PartitionProduceData] = array(PartitionProduceData, "0+", default=[])


class ProduceRequest(Request, api_key=0, versions="3-13", flexible="9+"):
    transactional_id: str | None = string("3+", nullable="3+", default=None)
    acks: int = int16("0+", default=0)
    timeout_ms: int = int32("0+", default=0)
    topic_data: list[TopicProduceData] = array(TopicProduceData, "0+", default=[])


class BatchIndexAndErrorMessage(Structure):
    batch_index: int = int32("8+", default=0)
    batch_index_error_message: str | None = string("8+", nullable="8+", default=None)


class LeaderIdAndEpoch(Structure):
    leader_id: int = int32("10+", default=-1)
    leader_epoch: int = int32("10+", default=-1)


class PartitionProduceResponse(Structure):
    index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    base_offset: int = int64("0+", default=0)
    log_append_time_ms: int = int64("2+", default=-1, ignorable=True)
    log_start_offset: int = int64("5+", default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = array(
        BatchIndexAndErrorMessage, "8+", default=[], ignorable=True
    )
    error_message: str | None = string("8+", nullable="8+", default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch | None = structure(
        LeaderIdAndEpoch, "10+", default=None, tag=0
    )


class TopicProduceResponse(Structure):
    name: str = string("0-12", default="", ignorable=True)
    topic_id: Uuid = uuid("13+", default=ZERO_UUID, ignorable=True)
    partition_responses: list[PartitionProduceResponse] = array(
        PartitionProduceResponse, "0+", default=[]
    )


class NodeEndpoint(Structure):
    node_id: int = int32("10+", default=0)
    host: str = string("10+", default="")
    port: int = int32("10+", default=0)
    rack: str | None = string("10+", nullable="10+", default=None)


class ProduceResponse(Response, api_key=0, versions="3-13", flexible="9+"):
    responses: list[TopicProduceResponse] = array(TopicProduceResponse, "0+", default=[])
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, "10+", default=[], tag=0)
