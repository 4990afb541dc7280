"""ShareGroupStatePartitionMetadata, a record of an internal topic (type 15).

Its value: version 0, always flexible.
"""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int_array, string, uuid


class ShareGroupStatePartitionMetadataKey(
    StoredRecord, record_type=15, versions="0", flexible="none"
):
    group_id: str = string("0", default="")


class TopicPartitionsInfo(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    topic_name: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class TopicInfo(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    topic_name: str = string("0+", default="")


class ShareGroupStatePartitionMetadataValue(
    StoredRecord, record_type=15, versions="0", flexible="0+"
):
    initializing_topics: list[TopicPartitionsInfo] = array(TopicPartitionsInfo, "0+", default=[])
    initialized_topics: list[TopicPartitionsInfo] = array(TopicPartitionsInfo, "0+", default=[])
    deleting_topics: list[TopicInfo] = array(TopicInfo, "0+", default=[])
