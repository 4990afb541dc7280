"""ConsumerGroupTargetAssignmentMetadata, a record of an internal topic (type 6).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord
from kbroker.wire.notation import int32, int64, string


class ConsumerGroupTargetAssignmentMetadataKey(
    StoredRecord, record_type=6, versions="0", flexible="none"
):
    group_id: str = string("0", default="")


class ConsumerGroupTargetAssignmentMetadataValue(
    StoredRecord, record_type=6, versions="0", flexible="0+"
):
    assignment_epoch: int = int32("0+", default=0)
    assignment_timestamp: int = int64("0+", default=0, tag=0, ignorable=True)
