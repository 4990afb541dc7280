"""What every client can do, in words that all of them share.

An adapter in a client's folder says these words in the client's own API and adds nothing: no retry,
no default that the client would not have. What a client cannot say it does not pretend to.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

Headers = tuple[tuple[str, bytes | None], ...]

COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
BEGINNING = "beginning"
END = "end"
CREATE_TIME = 0
LOG_APPEND_TIME = 1


@dataclass(frozen=True, slots=True)
class Sent:
    """A record as a producer gives it to a client; without a timestamp the client takes its own."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int | None = None
    partition: int = 0


@dataclass(frozen=True, slots=True)
class Received:
    """A record as a client gives it to a consumer."""

    offset: int
    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int = field(default=-1, compare=False)
    timestamp_type: int = field(default=CREATE_TIME, compare=False)
    partition: int = 0


class Tail(Protocol):
    """A consumer that stands somewhere in a partition and waits."""

    def poll(self, timeout_s: float) -> list[Received]:
        """What arrives before the time is over; nothing is a fair answer."""
        ...


class Client(Protocol):
    """One client library against one cluster. A refusal raises the client's own error."""

    def produce(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        acks: str = "all",
        compression: str = "none",
        idempotent: bool = False,
    ) -> list[int]:
        """Send all and wait for all; gives their offsets, which are -1 with ``acks`` of 0."""
        ...

    def consume(
        self, topic: str, count: int, *, start: int | str = BEGINNING, partition: int = 0
    ) -> list[Received]:
        """Read ``count`` records from ``start`` on; fewer if they do not come in time."""
        ...

    def tail(
        self, topic: str, *, fetch_max_wait_ms: int, start: int | str
    ) -> AbstractContextManager[Tail]:
        """A consumer of partition 0 whose fetches wait up to that long for data."""
        ...

    def watermarks(self, topic: str, partition: int = 0) -> tuple[int, int]:
        """The first offset, and the one that the next record will get."""
        ...

    def offset_for_time(self, topic: str, timestamp_ms: int) -> int | None:
        """The offset of the first record at or after that time, or None if there is none."""
        ...


class Admin(Protocol):
    """The administration half of a client."""

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        """One copy of each partition."""
        ...

    def delete_topic(self, topic: str) -> None: ...

    def topics(self) -> set[str]: ...

    def leaders(self, topic: str) -> dict[int, int]:
        """The leader of each partition."""
        ...

    def create_partitions(self, topic: str, total: int) -> None: ...

    def topic_configs(self, topic: str) -> dict[str, str | None]:
        """All configs, also those that have their default."""
        ...

    def alter_topic_config(self, topic: str, name: str, value: str) -> None: ...

    def delete_records(self, topic: str, before_offset: int) -> int:
        """Delete from partition 0; gives the new first offset."""
        ...

    def cluster(self) -> tuple[str, int, list[int]]:
        """The cluster's id, its controller and its brokers."""
        ...


class CompatError(Exception):
    """For adapters of clients that answer error codes instead of raising them."""
