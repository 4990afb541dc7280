"""StreamsGroupDescribe (key 89), versions 0-1, always flexible."""

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


class StreamsGroupDescribeRequest(Request, api_key=89, versions="0-1", flexible="0+"):
    group_ids: list[str] = string_array("0+", default=[])
    include_authorized_operations: bool = boolean("0+", default=False)
    include_topology_description: bool = boolean("1+", default=False)


class KeyValue(Structure):
    key: str = string("0+", default="")
    value: str = string("0+", default="")


class TopicInfo(Structure):
    name: str = string("0+", default="")
    partitions: int = int32("0+", default=0)
    replication_factor: int = int16("0+", default=0)
    topic_configs: list[KeyValue] = array(KeyValue, "0+", default=[])


class Subtopology(Structure):
    subtopology_id: str = string("0+", default="")
    source_topics: list[str] = string_array("0+", default=[])
    repartition_sink_topics: list[str] = string_array("0+", default=[])
    state_changelog_topics: list[TopicInfo] = array(TopicInfo, "0+", default=[])
    repartition_source_topics: list[TopicInfo] = array(TopicInfo, "0+", default=[])


class Topology(Structure):
    epoch: int = int32("0+", default=0)
    subtopologies: list[Subtopology] | None = array(Subtopology, "0+", nullable="0+", default=None)


class Endpoint(Structure):
    host: str = string("0+", default="")
    port: int = uint16("0+", default=0)


class TaskOffset(Structure):
    subtopology_id: str = string("0+", default="")
    partition: int = int32("0+", default=0)
    offset: int = int64("0+", default=0)


class TaskIds(Structure):
    subtopology_id: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class Assignment(Structure):
    active_tasks: list[TaskIds] = array(TaskIds, "0+", default=[])
    standby_tasks: list[TaskIds] = array(TaskIds, "0+", default=[])
    warmup_tasks: list[TaskIds] = array(TaskIds, "0+", default=[])


class Member(Structure):
    member_id: str = string("0+", default="")
    member_epoch: int = int32("0+", default=0)
    instance_id: str | None = string("0+", nullable="0+", default=None)
    rack_id: str | None = string("0+", nullable="0+", default=None)
    client_id: str = string("0+", default="")
    client_host: str = string("0+", default="")
    topology_epoch: int = int32("0+", default=0)
    process_id: str = string("0+", default="")
    user_endpoint: Endpoint | None = structure(Endpoint, "0+", nullable="0+", default=None)
    client_tags: list[KeyValue] = array(KeyValue, "0+", default=[])
    task_offsets: list[TaskOffset] = array(TaskOffset, "0+", default=[])
    task_end_offsets: list[TaskOffset] = array(TaskOffset, "0+", default=[])
    assignment: Assignment = structure(Assignment, "0+", default=Assignment())
    target_assignment: Assignment = structure(Assignment, "0+", default=Assignment())
    is_classic: bool = boolean("0+", default=False)


class TopologyDescriptionNode(Structure):
    name: str = string("1+", default="")
    node_type: int = int8("1+", default=0)
    source_topics: list[str] = string_array("1+", default=[])
    sink_topic: str | None = string("1+", nullable="1+", default=None)
    stores: list[str] = string_array("1+", default=[])
    successors: list[str] = string_array("1+", default=[])


class TopologyDescriptionSubtopology(Structure):
    subtopology_id: str = string("1+", default="")
    nodes: list[TopologyDescriptionNode] = array(TopologyDescriptionNode, "1+", default=[])


class TopologyDescriptionGlobalStore(Structure):
    source: TopologyDescriptionNode = structure(
        TopologyDescriptionNode, "1+", default=TopologyDescriptionNode()
    )
    processor: TopologyDescriptionNode = structure(
        TopologyDescriptionNode, "1+", default=TopologyDescriptionNode()
    )


class TopologyDescription(Structure):
    subtopologies: list[TopologyDescriptionSubtopology] = array(
        TopologyDescriptionSubtopology, "1+", default=[]
    )
    global_stores: list[TopologyDescriptionGlobalStore] = array(
        TopologyDescriptionGlobalStore, "1+", default=[]
    )


class DescribedGroup(Structure):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    group_id: str = string("0+", default="")
    group_state: str = string("0+", default="")
    group_epoch: int = int32("0+", default=0)
    assignment_epoch: int = int32("0+", default=0)
    topology: Topology | None = structure(Topology, "0+", nullable="0+", default=None)
    members: list[Member] = array(Member, "0+", default=[])
    authorized_operations: int = int32("0+", default=-2147483648)
    topology_description: TopologyDescription | None = structure(
        TopologyDescription, "1+", nullable="1+", default=None
    )
    topology_description_status: int = int8("1+", default=0)
    assignor_name: str | None = string("1+", nullable="1+", default=None, ignorable=True)


class StreamsGroupDescribeResponse(Response, api_key=89, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    groups: list[DescribedGroup] = array(DescribedGroup, "0+", default=[])
