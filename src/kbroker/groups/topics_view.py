"""What groups need to know of topics, asked of whoever knows."""

from collections.abc import Collection
from typing import Protocol

from kbroker.model import Uuid


class TopicsView(Protocol):
    """The topics of the cluster at this moment; its owner calls `on_topics_changed` on changes."""

    @property
    def revision(self) -> int:
        """A number that grows with every change of any answer below."""
        ...

    def names(self) -> Collection[str]:
        """The names of all topics."""
        ...

    def topic_id(self, topic: str) -> Uuid | None:
        """The id of a topic, or None if there is no such topic."""
        ...

    def topic_name(self, topic_id: Uuid) -> str | None:
        """The name of a topic, or None if no topic has this id."""
        ...

    def partition_count(self, topic: str) -> int | None:
        """How many partitions a topic has, or None if there is no such topic."""
        ...

    def racks(self, topic: str, partition: int) -> frozenset[str]:
        """The racks that hold a replica of a partition; empty if unknown."""
        ...
