"""The subscriptions and assignments that consumers of the classic protocol exchange.

To the classic protocol they are bytes; the broker looks inside them only while a
group migrates. Two bytes of version come first, which are no field of the message.
A version that is newer than ours is read as ours, because later versions only add.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING

from kbroker.groups.consumer_members import by_topic
from kbroker.wire import ProtocolError
from kbroker.wire.messages.consumer_protocol import (
    AssignmentTopicPartition,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kbroker.groups.assignors import Partition, Partitions
    from kbroker.groups.topics_view import TopicsView

# The type of the protocol that these bytes belong to.
PROTOCOL_TYPE = "consumer"

_VERSION = Struct(">h")
_NEWEST = 3


def version_of(data: bytes) -> int:
    """The version of a subscription or assignment; ProtocolError if there is none."""
    if len(data) < _VERSION.size:
        raise ProtocolError("no version before the consumer protocol")
    (version,) = _VERSION.unpack_from(data)
    if version < 0:
        raise ProtocolError(f"version {version} of the consumer protocol")
    return min(int(version), _NEWEST)


def decode_subscription(data: bytes) -> ConsumerProtocolSubscription:
    """What a consumer subscribes to and owns; ProtocolError if it is something else."""
    return ConsumerProtocolSubscription.decode(data, version_of(data), _VERSION.size)


def decode_assignment(data: bytes) -> ConsumerProtocolAssignment:
    """What a leader assigned; nothing if it did not yet. ProtocolError if it is something else."""
    if not data:
        return ConsumerProtocolAssignment()
    return ConsumerProtocolAssignment.decode(data, version_of(data), _VERSION.size)


def encode_assignment(partitions: Iterable[Partition], topics: TopicsView, version: int) -> bytes:
    """The partitions for a consumer that speaks ``version``; those of topics that are gone miss."""
    assigned = [
        AssignmentTopicPartition(topic=name, partitions=numbers)
        for topic_id, numbers in by_topic(partitions).items()
        if (name := topics.topic_name(topic_id)) is not None
    ]
    message = ConsumerProtocolAssignment(assigned_partitions=assigned)
    return _VERSION.pack(version) + message.encode_bytes(version)


def partitions_of(named: Iterable[tuple[str, list[int]]], topics: TopicsView) -> Partitions:
    """Partitions by the ids of their topics; those of topics that do not exist are left out."""
    return frozenset(
        (topic_id, partition)
        for name, partitions in named
        if (topic_id := topics.topic_id(name)) is not None
        for partition in partitions
    )
