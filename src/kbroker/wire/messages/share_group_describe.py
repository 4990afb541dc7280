"""ShareGroupDescribe (key 77), version 1, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import (
    array,
    boolean,
    int16,
    int32,
    int_array,
    string,
    string_array,
    structure,
    uuid,
)


class ShareGroupDescribeRequest(Request, api_key=77, versions="1", flexible="0+"):
    group_ids: list[str] = string_array("0+", default=[])
    include_authorized_operations: bool = boolean("0+", default=False)


class TopicPartitions(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    topic_name: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class Assignment(Structure):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions, "0+", default=[])


class Member(Structure):
    member_id: str = string("0+", default="")
    rack_id: str | None = string("0+", nullable="0+", default=None)
    member_epoch: int = int32("0+", default=0)
    client_id: str = string("0+", default="")
    client_host: str = string("0+", default="")
    subscribed_topic_names: list[str] = string_array("0+", default=[])
    assignment: Assignment = structure(Assignment, "0+", default=Assignment())


class DescribedGroup(Structure):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    group_id: str = string("0+", default="")
    group_state: str = string("0+", default="")
    group_epoch: int = int32("0+", default=0)
    assignment_epoch: int = int32("0+", default=0)
    assignor_name: str = string("0+", default="")
    members: list[Member] = array(Member, "0+", default=[])
    authorized_operations: int = int32("0+", default=-2147483648)


class ShareGroupDescribeResponse(Response, api_key=77, versions="1", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    groups: list[DescribedGroup] = array(DescribedGroup, "0+", default=[])
