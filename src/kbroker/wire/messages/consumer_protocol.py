"""ConsumerProtocolSubscription: versions 0-3, never flexible.

ConsumerProtocolAssignment: versions 0-3, never flexible.
"""

from kbroker.wire.message import Stored, Structure
from kbroker.wire.notation import array, data, int32, int_array, string, string_array


class SubscriptionTopicPartition(Structure):
    topic: str = string("1+", default="")
    partitions: list[int] = int_array("int32", "1+", default=[])


class ConsumerProtocolSubscription(Stored, versions="0-3", flexible="none"):
    topics: list[str] = string_array("0+", default=[])
    user_data: bytes | None = data("0+", nullable="0+", default=None)
    owned_partitions: list[SubscriptionTopicPartition] = array(
        SubscriptionTopicPartition, "1+", default=[], ignorable=True
    )
    generation_id: int = int32("2+", default=-1, ignorable=True)
    rack_id: str | None = string("3+", nullable="3+", default=None, ignorable=True)


class AssignmentTopicPartition(Structure):
    topic: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class ConsumerProtocolAssignment(Stored, versions="0-3", flexible="none"):
    assigned_partitions: list[AssignmentTopicPartition] = array(
        AssignmentTopicPartition, "0+", default=[]
    )
    user_data: bytes | None = data("0+", nullable="0+", default=None)
