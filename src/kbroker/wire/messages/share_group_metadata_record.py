"""ShareGroupMetadata, a record of an internal topic (type 11).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord
from kbroker.wire.notation import int32, int64, string


class ShareGroupMetadataKey(StoredRecord, record_type=11, versions="0", flexible="none"):
    group_id: str = string("0", default="")


class ShareGroupMetadataValue(StoredRecord, record_type=11, versions="0", flexible="0+"):
    epoch: int = int32("0+", default=0)
    metadata_hash: int = int64("0+", default=0)
