"""ElectLeaders (key 43), versions 0-2, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, int_array, string


class TopicPartitions(Structure):
    topic: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class ElectLeadersRequest(Request, api_key=43, versions="0-2", flexible="2+"):
    election_type: int = int8("1+", default=0)
    topic_partitions: list[TopicPartitions] | None = array(
        TopicPartitions, "0+", nullable="0+", default=[]
    )
    timeout_ms: int = int32("0+", default=60000)


class PartitionResult(Structure):
    partition_id: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")


class ReplicaElectionResult(Structure):
    topic: str = string("0+", default="")
    partition_result: list[PartitionResult] = array(PartitionResult, "0+", default=[])


class ElectLeadersResponse(Response, api_key=43, versions="0-2", flexible="2+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("1+", default=0)
    replica_election_results: list[ReplicaElectionResult] = array(
        ReplicaElectionResult, "0+", default=[]
    )
