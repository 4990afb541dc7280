"""ShareGroupMemberMetadata, a record of an internal topic (type 10).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord
from kbroker.wire.notation import string, string_array


class ShareGroupMemberMetadataKey(StoredRecord, record_type=10, versions="0", flexible="none"):
    group_id: str = string("0", default="")
    member_id: str = string("0", default="")


class ShareGroupMemberMetadataValue(StoredRecord, record_type=10, versions="0", flexible="0+"):
    rack_id: str | None = string("0+", nullable="0+", default="")
    client_id: str = string("0+", default="")
    client_host: str = string("0+", default="")
    subscribed_topic_names: list[str] = string_array("0+", default=[])
