"""One offset that a group committed, and what it is about."""

from typing import NamedTuple

from kbroker.model import ZERO_UUID, Uuid


class OffsetPlace(NamedTuple):
    """What an offset is about."""

    group_id: str
    topic: str
    partition: int


class CommittedOffset(NamedTuple):
    """A position somebody wants to go on from."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None
    """When it goes whatever happens; only clients older than Kafka 2.1 say so."""
    topic_id: Uuid = ZERO_UUID
    written: int = 0
    """Where its record stands in the log, counted from the first that was replayed."""

    def is_of(self, topic_id: Uuid) -> bool:
        """Whether it can belong to the topic with this id: a topic may be deleted and remade."""
        return ZERO_UUID in (topic_id, self.topic_id) or topic_id == self.topic_id
