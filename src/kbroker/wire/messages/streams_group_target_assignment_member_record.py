"""StreamsGroupTargetAssignmentMember, a record of an internal topic (type 21).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int_array, string


class StreamsGroupTargetAssignmentMemberKey(
    StoredRecord, record_type=21, versions="0", flexible="none"
):
    group_id: str = string("0", default="")
    member_id: str = string("0", default="")


class TaskIds(Structure):
    subtopology_id: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class StreamsGroupTargetAssignmentMemberValue(
    StoredRecord, record_type=21, versions="0", flexible="0+"
):
    active_tasks: list[TaskIds] = array(TaskIds, "0+", default=[])
    standby_tasks: list[TaskIds] = array(TaskIds, "0+", default=[])
    warmup_tasks: list[TaskIds] = array(TaskIds, "0+", default=[])
