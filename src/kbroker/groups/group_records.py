"""The records of __consumer_offsets: keys and values to bytes and back, exactly as Kafka has them.

A key starts with two bytes that name its type (Kafka calls them the version of the key), a value
with two bytes that name its version. Tools that read the topic, and a Kafka that takes over the
log directory, depend on both, so the versions written are those that Kafka 4.3 writes.

Whoever appends a record also replays it: see `GroupShard.replay`.
"""

from collections.abc import Mapping
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple, cast

from kbroker.model import ZERO_UUID
from kbroker.wire import Buffer, ProtocolError
from kbroker.wire.message import StoredRecord
from kbroker.wire.messages.consumer_group_current_member_assignment_record import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
)
from kbroker.wire.messages.consumer_group_member_metadata_record import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
)
from kbroker.wire.messages.consumer_group_metadata_record import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from kbroker.wire.messages.consumer_group_partition_metadata_record import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
)
from kbroker.wire.messages.consumer_group_regular_expression_record import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from kbroker.wire.messages.consumer_group_target_assignment_member_record import (
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
)
from kbroker.wire.messages.consumer_group_target_assignment_metadata_record import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue
from kbroker.wire.messages.legacy_offset_commit_record import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
)
from kbroker.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue

# Kafka knows a version 4 of GroupMetadataValue, but writes 3 until a tagged field needs it.
GROUP_METADATA_VERSION: Final = 3
# Since 4.1 committed offsets carry the id of their topic in a tagged field.
OFFSET_COMMIT_VERSION: Final = 4
# The one version that can hold the retention time of an old client (OffsetCommit 2-4).
EXPIRING_OFFSET_COMMIT_VERSION: Final = 1

# Both numbers before the messages: the type of a key, the version of a value.
_PREFIX: Final = Struct(">h")

# An offset with its topic's id, before and behind the metadata: version, offset, leader epoch, the
# length of the metadata and one; the time, and one tagged field with its tag and its size.
_OFFSET_HEAD: Final = Struct(">hqiB")
_OFFSET_TAIL: Final = Struct(">qBBB16s")
# The longest metadata whose length takes one byte.
_SHORT_METADATA: Final = 126
# A few megabytes; a broker with more offsets that are alive encodes some keys again.
_REMEMBERED_KEYS: Final = 1 << 14

# All keys have the version 0 of their message; their type tells what they are.
_KEY_VERSION: Final = 0

_RECORD_CLASSES: Final[Mapping[int, tuple[type[StoredRecord], type[StoredRecord]]]] = {
    key.record_type: (key, value)
    for key, value in (
        (LegacyOffsetCommitKey, LegacyOffsetCommitValue),
        (OffsetCommitKey, OffsetCommitValue),
        (GroupMetadataKey, GroupMetadataValue),
        (ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
        (ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
        (ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
        (ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue),
        (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
        (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
        (ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
    )
}


class GroupRecord(NamedTuple):
    """A fact about a group, as it stands in the log; without a value it is a tombstone."""

    key: StoredRecord
    value: StoredRecord | None
    value_version: int = 0


def encode_record(record: GroupRecord) -> tuple[bytes, bytes | None]:
    """The key and the value of the record batch that holds ``record``."""
    if isinstance(record.key, OffsetCommitKey):
        key = _offset_key(record.key.group, record.key.topic, record.key.partition)
        if record.value_version == OFFSET_COMMIT_VERSION:
            return key, _offset_value(cast(OffsetCommitValue, record.value))
    else:
        key = _encoded_key(record.key)
    if record.value is None:
        return key, None
    return key, _encoded_value(record.value, record.value_version)


def _encoded_key(key: StoredRecord) -> bytes:
    return _PREFIX.pack(key.record_type) + key.encode_bytes(_KEY_VERSION)


def _encoded_value(value: StoredRecord, version: int) -> bytes:
    return _PREFIX.pack(version) + value.encode_bytes(version)


@lru_cache(_REMEMBERED_KEYS)
def _offset_key(group_id: str, topic: str, partition: int) -> bytes:
    """Offsets are committed again and again, under the same keys."""
    return _encoded_key(OffsetCommitKey(group=group_id, topic=topic, partition=partition))


def _offset_value(value: OffsetCommitValue) -> bytes:
    """What the message's own encoder gives, only faster: commits make many of these."""
    metadata = value.metadata.encode()
    if len(metadata) > _SHORT_METADATA or value.topic_id == ZERO_UUID:
        return _encoded_value(value, OFFSET_COMMIT_VERSION)
    head = _OFFSET_HEAD.pack(
        OFFSET_COMMIT_VERSION, value.offset, value.leader_epoch, len(metadata) + 1
    )
    tail = _OFFSET_TAIL.pack(value.commit_timestamp, 1, 0, len(value.topic_id), value.topic_id)
    return head + metadata + tail


def decode_record(key: Buffer, value: Buffer | None) -> GroupRecord | None:
    """What stands in these bytes, or None if this broker knows no such type of record.

    ProtocolError if the bytes are no such record.
    """
    record_type = _prefix(key)
    classes = _RECORD_CLASSES.get(record_type)
    if classes is None:
        return None
    key_class, value_class = classes
    decoded_key = key_class.decode(key, _KEY_VERSION, _PREFIX.size)
    if value is None:
        return GroupRecord(decoded_key, None)
    version = _prefix(value)
    return GroupRecord(decoded_key, value_class.decode(value, version, _PREFIX.size), version)


def _prefix(data: Buffer) -> int:
    if len(data) < _PREFIX.size:
        raise ProtocolError("a record of a group is shorter than its first number")
    (number,) = _PREFIX.unpack_from(data)
    return int(number)


def tombstone(key: StoredRecord) -> GroupRecord:
    """The record that takes back every record with this key."""
    return GroupRecord(key, None)
