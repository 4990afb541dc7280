"""Names and value types that every package shares; imports nothing of ours.

file_slice       FileSlice, a range of an open file that stands for its bytes
topic_partition  TopicPartition, the name of one partition
uuids            Uuid, the 16 bytes that name a topic, and its base64 text
"""

from kbroker.model.file_slice import FileSlice
from kbroker.model.topic_partition import TopicPartition
from kbroker.model.uuids import ZERO_UUID, Uuid, uuid_from_text, uuid_to_text

__all__ = [
    "FileSlice",
    "TopicPartition",
    "Uuid",
    "ZERO_UUID",
    "uuid_from_text",
    "uuid_to_text",
]
