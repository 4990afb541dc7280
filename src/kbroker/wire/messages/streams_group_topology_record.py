"""StreamsGroupTopology, a record of an internal topic (type 23).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int16, int32, int_array, string, string_array


class StreamsGroupTopologyKey(StoredRecord, record_type=23, versions="0", flexible="none"):
    group_id: str = string("0", default="")


class TopicConfig(Structure):
    key: str = string("0+", default="")
    value: str = string("0+", default="")


class TopicInfo(Structure):
    name: str = string("0+", default="")
    partitions: int = int32("0+", default=0)
    replication_factor: int = int16("0+", default=0)
    topic_configs: list[TopicConfig] = array(TopicConfig, "0+", default=[])


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


class StreamsGroupTopologyValue(StoredRecord, record_type=23, versions="0", flexible="0+"):
    epoch: int = int32("0+", default=0)
    subtopologies: list[Subtopology] = array(Subtopology, "0+", default=[])
