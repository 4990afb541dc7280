"""StreamsGroupHeartbeat (key 88), versions 0-1, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import (
    array,
    boolean,
    int8,
    int16,
    int32,
    int64,
    int_array,
    string,
    string_array,
    structure,
    uint16,
)


class KeyValue(Structure):
    key: str = string("0+", default="")
    value: str = string("0+", default="")


class TopicInfo(Structure):
    name: str = string("0+", default="")
    partitions: int = int32("0+", default=0)
    replication_factor: int = int16("0+", default=0)
    topic_configs: list[KeyValue] = array(KeyValue, "0+", default=[])


class CopartitionGroup(Structure):
    source_topics: list[int] = int_array("int16", "0+", default=[])
    source_topic_regex: list[int] = int_array("int16", "0+", default=[])
    repartition_source_topics: list[int] = int_array("int16", "0+", default=[])


class Subtopology(Structure):
    subtopology_id: str = string("0+", default="")
    source_topics: list[str] = string_array("0+", default=[])
    source_topic_regex: list[str] = string_array("0+", default=[])
    state_changelog_topics: list[TopicInfo] = array(TopicInfo, "0+", default=[])
    repartition_sink_topics: list[str] = string_array("0+", default=[])
    repartition_source_topics: list[TopicInfo] = array(TopicInfo, "0+", default=[])
    copartition_groups: list[CopartitionGroup] = array(CopartitionGroup, "0+", default=[])


class Topology(Structure):
    epoch: int = int32("0+", default=0)
    subtopologies: list[Subtopology] = array(Subtopology, "0+", default=[])


class RequestTaskIds(Structure):
    subtopology_id: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class RequestEndpoint(Structure):
    host: str = string("0+", default="")
    port: int = uint16("0+", default=0)


class TaskOffset(Structure):
    subtopology_id: str = string("0+", default="")
    partition: int = int32("0+", default=0)
    offset: int = int64("0+", default=0)


class StreamsGroupHeartbeatRequest(Request, api_key=88, versions="0-1", flexible="0+"):
    group_id: str = string("0+", default="")
    member_id: str = string("0+", default="")
    member_epoch: int = int32("0+", default=0)
    endpoint_information_epoch: int = int32("0+", default=0)
    instance_id: str | None = string("0+", nullable="0+", default=None)
    rack_id: str | None = string("0+", nullable="0+", default=None)
    rebalance_timeout_ms: int = int32("0+", default=-1)
    topology: Topology | None = structure(Topology, "0+", nullable="0+", default=None)
    active_tasks: list[RequestTaskIds] | None = array(
        RequestTaskIds, "0+", nullable="0+", default=None
    )
    standby_tasks: list[RequestTaskIds] | None = array(
        RequestTaskIds, "0+", nullable="0+", default=None
    )
    warmup_tasks: list[RequestTaskIds] | None = array(
        RequestTaskIds, "0+", nullable="0+", default=None
    )
    process_id: str | None = string("0+", nullable="0+", default=None)
    user_endpoint: RequestEndpoint | None = structure(
        RequestEndpoint, "0+", nullable="0+", default=None
    )
    client_tags: list[KeyValue] | None = array(KeyValue, "0+", nullable="0+", default=None)
    task_offsets: list[TaskOffset] | None = array(TaskOffset, "0+", nullable="0+", default=None)
    task_end_offsets: list[TaskOffset] | None = array(TaskOffset, "0+", nullable="0+", default=None)
    shutdown_application: bool = boolean("0+", default=False)


class Status(Structure):
    status_code: int = int8("0+", default=0)
    status_detail: str = string("0+", default="")


class ResponseTaskIds(Structure):
    subtopology_id: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class ResponseEndpoint(Structure):
    host: str = string("0+", default="")
    port: int = uint16("0+", default=0)


class TopicPartition(Structure):
    topic: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class EndpointToPartitions(Structure):
    user_endpoint: ResponseEndpoint = structure(ResponseEndpoint, "0+", default=ResponseEndpoint())
    active_partitions: list[TopicPartition] = array(TopicPartition, "0+", default=[])
    standby_partitions: list[TopicPartition] = array(TopicPartition, "0+", default=[])


class StreamsGroupHeartbeatResponse(Response, api_key=88, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    member_id: str = string("0+", default="")
    member_epoch: int = int32("0+", default=0)
    heartbeat_interval_ms: int = int32("0+", default=0)
    acceptable_recovery_lag_legacy: int = int32("0", default=0)
    task_offset_interval_ms: int = int32("0+", default=0)
    acceptable_recovery_lag: int = int64("1+", default=-1, ignorable=True)
    status: list[Status] | None = array(Status, "0+", nullable="0+", default=[])
    active_tasks: list[ResponseTaskIds] | None = array(
        ResponseTaskIds, "0+", nullable="0+", default=None
    )
    standby_tasks: list[ResponseTaskIds] | None = array(
        ResponseTaskIds, "0+", nullable="0+", default=None
    )
    warmup_tasks: list[ResponseTaskIds] | None = array(
        ResponseTaskIds, "0+", nullable="0+", default=None
    )
    topology_description_required: bool = boolean("1+", default=False)
    endpoint_information_epoch: int = int32("0+", default=0)
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = array(
        EndpointToPartitions, "0+", nullable="0+", default=None
    )
