"""Fetch (key 1), versions 4-18, flexible from 12."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import (
    Part,
    array,
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


class ReplicaState(Structure):
    replica_id: int = int32("15+", default=-1)
    replica_epoch: int = int64("15+", default=-1)


class FetchPartition(Structure):
    partition: int = int32("0+", default=0)
    current_leader_epoch: int = int32("9+", default=-1, ignorable=True)
    fetch_offset: int = int64("0+", default=0)
    last_fetched_epoch: int = int32("12+", default=-1)
    log_start_offset: int = int64("5+", default=-1, ignorable=True)
    partition_max_bytes: int = int32("0+", default=0)
    replica_directory_id: Uuid = uuid("17+", default=ZERO_UUID, tag=0, ignorable=True)
    high_watermark: int = int64("18+", default=9223372036854775807, tag=1, ignorable=True)


class FetchTopic(Structure):
    topic: str = string("0-12", default="", ignorable=True)
    topic_id: Uuid = uuid("13+", default=ZERO_UUID, ignorable=True)
    partitions: list[FetchPartition] = array(FetchPartition, "0+", default=[])


class ForgottenTopic(Structure):
    topic: str = string("7-12", default="", ignorable=True)
    topic_id: Uuid = uuid("13+", default=ZERO_UUID, ignorable=True)
    partitions: list[int] = int_array("int32", "7+", default=[])


class FetchRequest(Request, api_key=1, versions="4-18", flexible="12+"):
    cluster_id: str | None = string("12+", nullable="12+", default=None, tag=0, ignorable=True)
    replica_id: int = int32("0-14", default=-1)
    replica_state: ReplicaState | None = structure(ReplicaState, "15+", default=None, tag=1)
    max_wait_ms: int = int32("0+", default=0)
    min_bytes: int = int32("0+", default=0)
    max_bytes: int = int32("3+", default=2147483647, ignorable=True)
    isolation_level: int = int8("4+", default=0, ignorable=True)
    session_id: int = int32("7+", default=0, ignorable=True)
    session_epoch: int = int32("7+", default=-1, ignorable=True)
    topics: list[FetchTopic] = array(FetchTopic, "0+", default=[])
    forgotten_topics_data: list[ForgottenTopic] = array(ForgottenTopic, "7+", default=[])
    rack_id: str = string("11+", default="", ignorable=True)


class EpochEndOffset(Structure):
    epoch: int = int32("12+", default=-1)
    end_offset: int = int64("12+", default=-1)


class LeaderIdAndEpoch(Structure):
    leader_id: int = int32("12+", default=-1)
    leader_epoch: int = int32("12+", default=-1)


class SnapshotId(Structure):
    end_offset: int = int64("0+", default=-1)
    epoch: int = int32("0+", default=-1)


class AbortedTransaction(Structure):
    producer_id: int = int64("4+", default=0)
    first_offset: int = int64("4+", default=0)


class PartitionData(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    high_watermark: int = int64("0+", default=0)
    last_stable_offset: int = int64("4+", default=-1, ignorable=True)
    log_start_offset: int = int64("5+", default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset | None = structure(EpochEndOffset, "12+", default=None, tag=0)
    current_leader: LeaderIdAndEpoch | None = structure(
        LeaderIdAndEpoch, "12+", default=None, tag=1
    )
    snapshot_id: SnapshotId | None = structure(SnapshotId, "12+", default=None, tag=2)
    aborted_transactions: list[AbortedTransaction] | None = array(
        AbortedTransaction, "4+", nullable="4+", default=[], ignorable=True
    )
    preferred_read_replica: int = int32("11+", default=-1)
    records: Part | None = records("0+", nullable="0+", default=None)


class FetchableTopicResponse(Structure):
    topic: str = string("0-12", default="", ignorable=True)
    topic_id: Uuid = uuid("13+", default=ZERO_UUID, ignorable=True)
    partitions: list[PartitionData] = array(PartitionData, "0+", default=[])


class NodeEndpoint(Structure):
    node_id: int = int32("16+", default=0)
    host: str = string("16+", default="")
    port: int = int32("16+", default=0)
    rack: str | None = string("16+", nullable="16+", default=None)


class FetchResponse(Response, api_key=1, versions="4-18", flexible="12+"):
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    error_code: int = int16("7+", default=0, ignorable=True)
    session_id: int = int32("7+", default=0)
    responses: list[FetchableTopicResponse] = array(FetchableTopicResponse, "0+", default=[])
    node_endpoints: list[NodeEndpoint] = array(NodeEndpoint, "16+", default=[], tag=0)
