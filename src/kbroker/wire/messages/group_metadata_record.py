"""GroupMetadata, a record of an internal topic (type 2).

Its value: versions 0-4, flexible from 4.
"""

from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, data, int32, int64, string


class GroupMetadataKey(StoredRecord, record_type=2, versions="0", flexible="none"):
    group: str = string("0", default="")


class MemberMetadata(Structure):
    member_id: str = string("0+", default="")
    group_instance_id: str | None = string("3+", nullable="3+", default=None, ignorable=True)
    client_id: str = string("0+", default="")
    client_host: str = string("0+", default="")
    rebalance_timeout: int = int32("1+", default=-1, ignorable=True)
    session_timeout: int = int32("0+", default=0)
    subscription: bytes = data("0+", default=b"")
    assignment: bytes = data("0+", default=b"")


class GroupMetadataValue(StoredRecord, record_type=2, versions="0-4", flexible="4+"):
    protocol_type: str = string("0+", default="")
    generation: int = int32("0+", default=0)
    protocol: str | None = string("0+", nullable="0+", default="")
    leader: str | None = string("0+", nullable="0+", default="")
    current_state_timestamp: int = int64("2+", default=-1, ignorable=True)
    members: list[MemberMetadata] = array(MemberMetadata, "0+", default=[])
