"""ConsumerGroupCurrentMemberAssignment, a record of an internal topic (type 8).

Its value: version 0, always flexible.
"""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int8, int32, int_array, string, uuid


class ConsumerGroupCurrentMemberAssignmentKey(
    StoredRecord, record_type=8, versions="0", flexible="none"
):
    group_id: str = string("0", default="")
    member_id: str = string("0", default="")


class TopicPartitions(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[int] = int_array("int32", "0+", default=[])
    assignment_epochs: list[int] | None = int_array("int32", "0+", nullable="0+", default=[], tag=0)


class ConsumerGroupCurrentMemberAssignmentValue(
    StoredRecord, record_type=8, versions="0", flexible="0+"
):
    member_epoch: int = int32("0+", default=0)
    previous_member_epoch: int = int32("0+", default=0)
    state: int = int8("0+", default=0)
    assigned_partitions: list[TopicPartitions] = array(TopicPartitions, "0+", default=[])
    partitions_pending_revocation: list[TopicPartitions] = array(TopicPartitions, "0+", default=[])
