"""StreamsGroupMetadata, a record of an internal topic (type 17).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int32, int64, string


class StreamsGroupMetadataKey(StoredRecord, record_type=17, versions="0", flexible="none"):
    group_id: str = string("0", default="")


class LastAssignmentConfig(Structure):
    key: str = string("0+", default="")
    value: str = string("0+", default="")


class StreamsGroupMetadataValue(StoredRecord, record_type=17, versions="0", flexible="0+"):
    epoch: int = int32("0+", default=0)
    metadata_hash: int = int64("0+", default=0)
    validated_topology_epoch: int = int32("0+", default=-1, tag=0)
    last_assignment_configs: list[LastAssignmentConfig] | None = array(
        LastAssignmentConfig, "0+", nullable="0+", default=[], tag=1
    )
