"""StreamsGroupCurrentMemberAssignment, a record of an internal topic (type 22).

Its value: version 0, always flexible.
"""

from kbroker.wire.message import StoredRecord, Structure
from kbroker.wire.notation import array, int8, int32, int_array, string


class StreamsGroupCurrentMemberAssignmentKey(
    StoredRecord, record_type=22, versions="0", flexible="none"
):
    group_id: str = string("0", default="")
    member_id: str = string("0", default="")


class TaskIds(Structure):
    subtopology_id: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])
    assignment_epochs: list[int] | None = int_array("int32", "0+", nullable="0+", default=[], tag=0)


class StreamsGroupCurrentMemberAssignmentValue(
    StoredRecord, record_type=22, versions="0", flexible="0+"
):
    member_epoch: int = int32("0+", default=0)
    previous_member_epoch: int = int32("0+", default=0)
    state: int = int8("0+", default=0)
    active_tasks: list[TaskIds] = array(TaskIds, "0+", default=[])
    standby_tasks: list[TaskIds] = array(TaskIds, "0+", default=[])
    warmup_tasks: list[TaskIds] = array(TaskIds, "0+", default=[])
    active_tasks_pending_revocation: list[TaskIds] = array(TaskIds, "0+", default=[])
    standby_tasks_pending_revocation: list[TaskIds] = array(TaskIds, "0+", default=[])
    warmup_tasks_pending_revocation: list[TaskIds] = array(TaskIds, "0+", default=[])
