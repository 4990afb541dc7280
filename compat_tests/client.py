"""What every client can do, in words that all of them share.

A program in a client's folder says these words in the client's own API and adds nothing: no retry,
no default that the client would not have. What a client cannot say it does not pretend to. Programs
are driven line by line (see ``program``), so that one scenario runs on all of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

Headers = tuple[tuple[str, bytes | None], ...]

COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
BEGINNING = "beginning"
END = "end"
READ_UNCOMMITTED = "read_uncommitted"
READ_COMMITTED = "read_committed"
CREATE_TIME = 0
LOG_APPEND_TIME = 1

# Records of 10 MB need room for what goes around them.
LARGE_BYTES = 12_000_000
# How long a client may take for anything, on two busy cores.
PATIENCE_S = 20.0


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
    """A record as a client gives it to a consumer; a timestamp type of None is never told."""

    offset: int
    value: bytes | None
    key: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int = field(default=-1, compare=False)
    timestamp_type: int | None = field(default=CREATE_TIME, compare=False)
    partition: int = 0


class Data(Protocol):
    """Records of one client library against one cluster. A refusal raises the client's error."""

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
        self,
        topic: str,
        count: int,
        *,
        start: int | str = BEGINNING,
        partition: int = 0,
        isolation: str = READ_UNCOMMITTED,
        wait_s: float = PATIENCE_S,
    ) -> list[Received]:
        """Read ``count`` records from ``start`` on; fewer if they do not come in time.

        An offset that is not there is an error: nothing resets it.
        """
        ...

    def consume_in_group(self, group: str, topic: str, count: int) -> list[Received]:
        """As a new member, from where the group stands or the beginning; commits and leaves."""
        ...

    def watermarks(self, topic: str, partition: int = 0) -> tuple[int, int]:
        """The first offset, and the one that the next record will get."""
        ...

    def offset_for_time(self, topic: str, timestamp_ms: int) -> int | None:
        """The offset of the first record at or after that time, or None if there is none."""
        ...


class Transactions(Protocol):
    """Producers with a transactional id; each has a name here and lives until it ends."""

    def begin(
        self, producer: str, transactional_id: str, topic: str, records: Sequence[Sent]
    ) -> None:
        """Let a new producer begin a transaction and send to it; all is flushed, nothing ended."""
        ...

    def end(
        self,
        producer: str,
        *,
        commit: bool,
        group: str | None = None,
        topic: str | None = None,
        offset: int | None = None,
    ) -> None:
        """Commit or abort, with an offset of ``group`` for partition 0 if one is given."""
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

    def groups(self) -> set[str]: ...

    def group_offsets(self, group: str, topic: str) -> dict[int, int]:
        """What the group committed, by partition."""
        ...

    def delete_group(self, group: str) -> None: ...


class Client(Data, Transactions, Admin, Protocol):
    """All of it."""


class CompatError(Exception):
    """A refusal, with the error code of Kafka's protocol where the client tells it."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code
