"""ConsumerGroupPartitionMetadata, a record of an internal topic (type 4).

Its value: version 0, always flexible.
"""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int32, string, string_array, uuid


class ConsumerGroupPartitionMetadataKey(StoredRecord, record_type=4, versions="0", flexible="none"):
    group_id: str = string("0", default="")


class PartitionMetadata(Structure):
    partition: int = int32("0+", default=0)
    racks: list[str] = string_array("0+", default=[])


class TopicMetadata(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    topic_name: str = string("0+", default="")
    num_partitions: int = int32("0+", default=0)
    partition_metadata: list[PartitionMetadata] = array(PartitionMetadata, "0+", default=[])


class ConsumerGroupPartitionMetadataValue(StoredRecord, record_type=4, versions="0", flexible="0+"):
    topics: list[TopicMetadata] = array(TopicMetadata, "0+", default=[])
