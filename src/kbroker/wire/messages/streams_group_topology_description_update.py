"""StreamsGroupTopologyDescriptionUpdate (key 93), version 0, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, string, string_array, structure


class TopologyDescriptionNode(Structure):
    name: str = string("0+", default="")
    node_type: int = int8("0+", default=0)
    source_topics: list[str] = string_array("0+", default=[])
    sink_topic: str | None = string("0+", nullable="0+", default=None)
    stores: list[str] = string_array("0+", default=[])
    successors: list[str] = string_array("0+", default=[])


class TopologyDescriptionSubtopology(Structure):
    subtopology_id: str = string("0+", default="")
    nodes: list[TopologyDescriptionNode] = array(TopologyDescriptionNode, "0+", default=[])


class TopologyDescriptionGlobalStore(Structure):
    source: TopologyDescriptionNode = structure(
        TopologyDescriptionNode, "0+", default=TopologyDescriptionNode()
    )
    processor: TopologyDescriptionNode = structure(
        TopologyDescriptionNode, "0+", default=TopologyDescriptionNode()
    )


class TopologyDescription(Structure):
    subtopologies: list[TopologyDescriptionSubtopology] = array(
        TopologyDescriptionSubtopology, "0+", default=[]
    )
    global_stores: list[TopologyDescriptionGlobalStore] = array(
        TopologyDescriptionGlobalStore, "0+", default=[]
    )


class StreamsGroupTopologyDescriptionUpdateRequest(
    Request, api_key=93, versions="0", flexible="0+"
):
    group_id: str = string("0+", default="")
    member_id: str = string("0+", default="")
    topology_epoch: int = int32("0+", default=0)
    topology_description: TopologyDescription = structure(
        TopologyDescription, "0+", default=TopologyDescription()
    )


class StreamsGroupTopologyDescriptionUpdateResponse(
    Response, api_key=93, versions="0", flexible="0+"
):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
