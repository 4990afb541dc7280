"""StreamsGroupMemberMetadata, a record of an internal topic (type 19).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int32, string, structure, uint16


class StreamsGroupMemberMetadataKey(StoredRecord, record_type=19, versions="0", flexible="none"):
    group_id: str = string("0", default="")
    member_id: str = string("0", default="")


class Endpoint(Structure):
    host: str = string("0+", default="")
    port: int = uint16("0+", default=0)


class KeyValue(Structure):
    key: str = string("0+", default="")
    value: str = string("0+", default="")


class StreamsGroupMemberMetadataValue(StoredRecord, record_type=19, versions="0", flexible="0+"):
    instance_id: str | None = string("0+", nullable="0+", default="")
    rack_id: str | None = string("0+", nullable="0+", default="")
    client_id: str = string("0+", default="")
    client_host: str = string("0+", default="")
    rebalance_timeout_ms: int = int32("0+", default=-1)
    topology_epoch: int = int32("0+", default=0)
    process_id: str = string("0+", default="")
    user_endpoint: Endpoint | None = structure(Endpoint, "0+", nullable="0+", default=None)
    client_tags: list[KeyValue] = array(KeyValue, "0+", default=[])
