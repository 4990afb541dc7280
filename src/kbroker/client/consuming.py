"""Partitions of one topic, read from a chosen start; no group, nothing committed.

Each `poll` asks every leader once and gives the records that came. Positions move by whole
batches, also over those that hold nothing for applications: control batches, aborted ones, and
those that compaction emptied. So a position reaches the end of the log even if no record does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from kbroker.client.aborted import AbortedBatches
from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.client.errors import BadAnswer, BrokerError, ClientError, raise_refusal
from kbroker.client.topics import (
    EARLIEST,
    LATEST,
    NEW_TOPIC_PATIENCE_S,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    list_offsets,
)
from kbroker.model import ZERO_UUID, Uuid
from kbroker.records import (
    Buffer,
    Record,
    RecordsError,
    TruncatedRecords,
    crc_matches,
    iterate_records,
    scan_batches,
)
from kbroker.wire import ErrorCode
from kbroker.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)

# How long a broker may hold a fetch that finds nothing: what the Java consumer asks for.
_MAX_WAIT_MS = 500
# Memory for one poll is bounded by these; a single larger batch comes all the same.
_MAX_BYTES = 16 * 1024 * 1024
_PARTITION_MAX_BYTES = 1024 * 1024
# The last version that names topics; later ones know them by id (KIP-516).
_LAST_VERSION_WITH_NAMES = 12


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin: at an offset, or at what ListOffsets finds for a timestamp."""

    offset: int | None = None
    timestamp_ms: int = EARLIEST

    @classmethod
    def earliest(cls) -> Self:
        """At the first record the log still has."""
        return cls()

    @classmethod
    def latest(cls) -> Self:
        """Behind the last record."""
        return cls(timestamp_ms=LATEST)

    @classmethod
    def at_offset(cls, offset: int) -> Self:
        """At ``offset``, which must lie in the log or just behind it."""
        return cls(offset=offset)

    @classmethod
    def at_timestamp(cls, timestamp_ms: int) -> Self:
        """At the first record that is not older; behind the last one if all are."""
        return cls(timestamp_ms=timestamp_ms)


class Consumed(NamedTuple):
    """A record and the partition it was read from."""

    partition: int
    record: Record


class Consumer:
    """Reads ``partitions`` of ``topic``, all of them if none are named.

    ``positions`` are the offsets to be read next; ``ends`` are the ends of the logs at the
    beginning, which is what `at_end` compares with.
    """

    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        *,
        start: Start,
        partitions: Sequence[int] = (),
        read_committed: bool = False,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._isolation_level = READ_COMMITTED if read_committed else READ_UNCOMMITTED
        found = cluster.retry(
            lambda: self._find_partitions(partitions), unknown_topic_s=NEW_TOPIC_PATIENCE_S
        )
        self.ends = self._offsets(dict.fromkeys(found, LATEST))
        self.positions = self._find_start(start)

    def at_end(self) -> bool:
        """Whether all that was there at the beginning has been read."""
        return all(self.positions[partition] >= end for partition, end in self.ends.items())

    def poll(self) -> list[Consumed]:
        """The next records, in order within each partition; none if none came within a moment.

        Raises BrokerError, ConnectionFailed or BadAnswer after retrying what may pass.
        """
        return self._cluster.retry(self._poll_once, unknown_topic_s=NEW_TOPIC_PATIENCE_S)

    # The start

    def _find_partitions(self, wanted: Sequence[int]) -> list[int]:
        if wanted:
            return [self._cluster.partition(self._topic, p).partition_index for p in wanted]
        topic = self._cluster.topic(self._topic)
        return sorted(partition.partition_index for partition in topic.partitions)

    def _find_start(self, start: Start) -> dict[int, int]:
        if start.offset is None:
            if start.timestamp_ms == LATEST:
                return dict(self.ends)
            found = self._offsets(dict.fromkeys(self.ends, start.timestamp_ms))
            return {p: self.ends[p] if offset < 0 else offset for p, offset in found.items()}
        for partition, first in self._offsets(dict.fromkeys(self.ends, EARLIEST)).items():
            if not first <= start.offset <= self.ends[partition]:
                raise BrokerError(
                    ErrorCode.OFFSET_OUT_OF_RANGE,
                    f"partition {partition} has offsets {first} to {self.ends[partition]}, "
                    f"not {start.offset}",
                    subject=self._topic,
                )
        return dict.fromkeys(self.ends, start.offset)

    def _offsets(self, timestamps: dict[int, int]) -> dict[int, int]:
        return list_offsets(
            self._cluster, self._topic, timestamps, isolation_level=self._isolation_level
        )

    # The fetch

    def _poll_once(self) -> list[Consumed]:
        """One fetch from every leader.

        An error about one partition waits until a poll that brings no records: what came from
        the others has moved their positions and must not be lost.
        """
        topic_id = self._cluster.topic(self._topic).topic_id
        leaders = self._cluster.by_leader(self._topic, self.positions)
        for leader, partitions in leaders.items():
            self._send_to(leader, partitions, topic_id)
        answers: list[PartitionData] = []
        for leader in leaders:
            response = leader.receive()
            assert isinstance(response, FetchResponse)
            raise_refusal(response.error_code, subject=self._topic)
            answers += [part for topic in response.responses for part in topic.partitions]
        consumed: list[Consumed] = []
        trouble: ClientError | None = None
        for answer in answers:
            try:
                consumed += self._read(answer)
            except ClientError as error:
                trouble = error
        if trouble is not None and not consumed:
            raise trouble
        return consumed

    def _send_to(self, leader: Connection, partitions: list[int], topic_id: Uuid) -> None:
        send_fetch(
            leader,
            self._topic,
            topic_id,
            {partition: self.positions[partition] for partition in partitions},
            isolation_level=self._isolation_level,
        )

    def _read(self, answer: PartitionData) -> list[Consumed]:
        """The records of one partition's answer; moves its position."""
        partition = answer.partition_index
        subject = f"{self._topic}-{partition}"
        if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._move_into_the_log(partition)
            return []
        raise_refusal(answer.error_code, subject=subject)
        records = answer.records
        if not isinstance(records, bytes | bytearray | memoryview):
            return []
        try:
            return list(self._visible(partition, records, answer))
        except RecordsError as error:
            raise BadAnswer(f"{subject}: cannot read what the broker sent: {error}") from error

    def _visible(
        self, partition: int, records: Buffer, answer: PartitionData
    ) -> Iterator[Consumed]:
        """The records an application sees. The last batch may be cut; it comes again."""
        reads_committed = self._isolation_level == READ_COMMITTED
        aborted = AbortedBatches((reads_committed and answer.aborted_transactions) or ())
        position = self.positions[partition]
        batches = scan_batches(records)
        while True:
            try:
                place, header = next(batches)
            except (StopIteration, TruncatedRecords):
                break
            if not crc_matches(records, place, header):
                raise RecordsError(f"the batch at offset {header.base_offset} is damaged")
            hidden = aborted.includes(records, place, header) or header.is_control
            if not hidden:
                for record in iterate_records(records, header, place):
                    if record.offset >= position:
                        yield Consumed(partition, record)
            position = max(position, header.next_offset)
        self.positions[partition] = position

    def _move_into_the_log(self, partition: int) -> None:
        """Go on at the first offset that is left, after retention removed ours."""
        (first,) = self._offsets({partition: EARLIEST}).values()
        position = self.positions[partition]
        if position >= first:
            raise BrokerError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"the log ends before offset {position}: it has been truncated or made anew",
                subject=f"{self._topic}-{partition}",
            )
        self.positions[partition] = first


def send_fetch(
    leader: Connection,
    topic: str,
    topic_id: Uuid,
    positions: Mapping[int, int],
    *,
    isolation_level: int,
) -> None:
    """Ask a leader for what lies at ``positions``, offsets by partition; receive it yourself."""
    newest = _LAST_VERSION_WITH_NAMES if topic_id == ZERO_UUID else 32767
    wanted = [
        FetchPartition(
            partition=partition, fetch_offset=offset, partition_max_bytes=_PARTITION_MAX_BYTES
        )
        for partition, offset in positions.items()
    ]
    request = FetchRequest(
        max_wait_ms=_MAX_WAIT_MS,
        min_bytes=1,
        max_bytes=_MAX_BYTES,
        isolation_level=isolation_level,
        topics=[FetchTopic(topic=topic, topic_id=topic_id, partitions=wanted)],
    )
    leader.send(request, leader.version_of(FetchRequest, newest=newest))
