"""ConsumerGroupMemberMetadata, a record of an internal topic (type 5).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, data, int32, string, string_array, structure


class ConsumerGroupMemberMetadataKey(StoredRecord, record_type=5, versions="0", flexible="none"):
    group_id: str = string("0", default="")
    member_id: str = string("0", default="")


class ClassicProtocol(Structure):
    name: str = string("0+", default="")
    metadata: bytes = data("0+", default=b"")


class ClassicMemberMetadata(Structure):
    session_timeout_ms: int = int32("0+", default=0)
    supported_protocols: list[ClassicProtocol] = array(ClassicProtocol, "0+", default=[])


class ConsumerGroupMemberMetadataValue(StoredRecord, record_type=5, versions="0", flexible="0+"):
    instance_id: str | None = string("0+", nullable="0+", default="")
    rack_id: str | None = string("0+", nullable="0+", default="")
    client_id: str = string("0+", default="")
    client_host: str = string("0+", default="")
    subscribed_topic_names: list[str] = string_array("0+", default=[])
    subscribed_topic_regex: str | None = string("0+", nullable="0+", default="")
    rebalance_timeout_ms: int = int32("0+", default=-1)
    server_assignor: str | None = string("0+", nullable="0+", default="")
    classic_member_metadata: ClassicMemberMetadata | None = structure(
        ClassicMemberMetadata, "0+", nullable="0+", default=None, tag=0
    )
