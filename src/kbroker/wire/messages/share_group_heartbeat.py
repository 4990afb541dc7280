"""ShareGroupHeartbeat (key 76), version 1, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import (
    array,
    int16,
    int32,
    int_array,
    string,
    string_array,
    structure,
    uuid,
)


class ShareGroupHeartbeatRequest(Request, api_key=76, versions="1", flexible="0+"):
    group_id: str = string("0+", default="")
    member_id: str = string("0+", default="")
    member_epoch: int = int32("0+", default=0)
    rack_id: str | None = string("0+", nullable="0+", default=None)
    subscribed_topic_names: list[str] | None = string_array("0+", nullable="0+", default=None)


class TopicPartitions(Structure):
    topic_id: Uuid = uuid("0+", default=ZERO_UUID)
    partitions: list[int] = int_array("int32", "0+", default=[])


class Assignment(Structure):
    topic_partitions: list[TopicPartitions] = array(TopicPartitions, "0+", default=[])


class ShareGroupHeartbeatResponse(Response, api_key=76, versions="1", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)
    member_id: str | None = string("0+", nullable="0+", default=None)
    member_epoch: int = int32("0+", default=0)
    heartbeat_interval_ms: int = int32("0+", default=0)
    assignment: Assignment | None = structure(Assignment, "0+", nullable="0+", default=None)
