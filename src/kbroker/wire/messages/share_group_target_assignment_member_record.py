"""ShareGroupTargetAssignmentMember, a record of an internal topic (type 13).

Its value: version 0, always flexible.
"""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int_array, string, uuid


class ShareGroupTargetAssignmentMemberKey(
    StoredRecord, record_type=13, versions="0", flexible="none"
):
    group_id: str = string("0", default="")
    member_id: str = string("0", default="")


class TopicPartition(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[int] = int_array("int32", "0+", default=[])


class ShareGroupTargetAssignmentMemberValue(
    StoredRecord, record_type=13, versions="0", flexible="0+"
):
    topic_partitions: list[TopicPartition] = array(TopicPartition, "0+", default=[])
