"""ShareFetch (key 78), versions 1-2, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import (
    Part,
    array,
    boolean,
    int8,
    int16,
    int32,
    int64,
    int_array,
    records,
    string,
    structure,
    uuid,
)


class AcknowledgementBatch(Structure):
    first_offset: int = int64("0+", default=0)
    last_offset: int = int64("0+", default=0)
    acknowledge_types: list[int] = int_array("int8", "0+", default=[])


class FetchPartition(Structure):
    partition_index: int = int32("0+", default=0)
    partition_max_bytes: int = int32("0", default=0)
    acknowledgement_batches: list[AcknowledgementBatch] = array(
        AcknowledgementBatch, "0+", default=[]
    )


class FetchTopic(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[FetchPartition] = array(FetchPartition, "0+", default=[])


class ForgottenTopic(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[int] = int_array("int32", "0+", default=[])


class ShareFetchRequest(Request, api_key=78, versions="1-2", flexible="0+"):
    group_id: str | None = string("0+", nullable="0+", default=None)
    member_id: str | None = string("0+", nullable="0+", default="")
    share_session_epoch: int = int32("0+", default=0)
    max_wait_ms: int = int32("0+", default=0)
    min_bytes: int = int32("0+", default=0)
    max_bytes: int = int32("0+", default=2147483647)
    max_records: int = int32("1+", default=0)
    batch_size: int = int32("1+", default=0)
    share_acquire_mode: int = int8("2+", default=0, ignorable=True)
    is_renew_ack: bool = boolean("2+", default=False)
    topics: list[FetchTopic] = array(FetchTopic, "0+", default=[])
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic, "0+", default=[])


class LeaderIdAndEpoch(Structure):
    leader_id: int = int32("0+", default=0)
    leader_epoch: int = int32("0+", default=0)


class AcquiredRecords(Structure):
    first_offset: int = int64("0+", default=0)
    last_offset: int = int64("0+", default=0)
    delivery_count: int = int16("0+", default=0)


class PartitionData(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    acknowledge_error_code: int = int16("0+", default=0)
    acknowledge_error_message: str | None = string("0+", nullable="0+", default=None)
    current_leader: LeaderIdAndEpoch = structure(LeaderIdAndEpoch, "0+", default=LeaderIdAndEpoch())
    records: Part | None = records("0+", nullable="0", default=None)
    acquired_records: list[AcquiredRecords] = array(AcquiredRecords, "0+", default=[])


class ShareFetchableTopicResponse(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[PartitionData] = array(PartitionData, "0+", default=[])


class NodeEndpoint(Structure):
    node_id: int = int32("0+", default=0)
    host: str = string("0+", default="")
    port: int = int32("0+", default=0)
    rack: str | None = string("0+", nullable="0+", default=None)


class ShareFetchResponse(Response, api_key=78, versions="1-2", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    acquisition_lock_timeout_ms: int = int32("1+", default=0)
    responses: list[ShareFetchableTopicResponse] = array(
        ShareFetchableTopicResponse, "0+", default=[]
    )
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, "0+", default=[])
