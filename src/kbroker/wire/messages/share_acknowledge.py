"""ShareAcknowledge (key 79), versions 1-2, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import (
    array,
    boolean,
    int16,
    int32,
    int64,
    int_array,
    string,
    structure,
    uuid,
)


class AcknowledgementBatch(Structure):
    first_offset: int = int64("0+", default=0)
    last_offset: int = int64("0+", default=0)
    acknowledge_types: list[int] = int_array("int8", "0+", default=[])


class AcknowledgePartition(Structure):
    partition_index: int = int32("0+", default=0)
    acknowledgement_batches: list[AcknowledgementBatch] = array(
        AcknowledgementBatch, "0+", default=[]
    )


class AcknowledgeTopic(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[AcknowledgePartition] = array(AcknowledgePartition, "0+", default=[])


class ShareAcknowledgeRequest(Request, api_key=79, versions="1-2", flexible="0+"):
    group_id: str | None = string("0+", nullable="0+", default=None)
    member_id: str | None = string("0+", nullable="0+", default="")
    share_session_epoch: int = int32("0+", default=0)
    is_renew_ack: bool = boolean("2+", default=False)
    topics: list[AcknowledgeTopic] = array(AcknowledgeTopic, "0+", default=[])


class LeaderIdAndEpoch(Structure):
    leader_id: int = int32("0+", default=0)
    leader_epoch: int = int32("0+", default=0)


class PartitionData(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    current_leader: LeaderIdAndEpoch = structure(LeaderIdAndEpoch, "0+", default=LeaderIdAndEpoch())


class ShareAcknowledgeTopicResponse(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, "0+", default=[])


class NodeEndpoint(Structure):
    node_id: int = int32("0+", default=0)
    host: str = string("0+", default="")
    port: int = int32("0+", default=0)
    rack: str | None = string("0+", nullable="0+", default=None)


class ShareAcknowledgeResponse(Response, api_key=79, versions="1-2", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    acquisition_lock_timeout_ms: int = int32("2+", default=0, ignorable=True)
    responses: list[ShareAcknowledgeTopicResponse] = array(
        ShareAcknowledgeTopicResponse, "0+", default=[]
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, "0+", default=[])
