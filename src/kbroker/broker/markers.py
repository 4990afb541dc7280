"""Markers: the ends of transactions, written to the partitions that were part of them.

`LocalMarkers` writes to partitions of this broker, at once. `MarkerWriter` carries out the orders
of the coordinator: it writes until every partition has its marker (T5), and reports each when it
is committed. What cannot be written now (a partition that is being opened, a shard of groups that
is loading, a disk that is full) is tried again and again; what is gone for good is reported too,
because nobody will ever read a transaction in a topic that was deleted.
"""

from typing import Final, NamedTuple, Protocol

import trio

from kbroker.broker.clock import Clock
from kbroker.broker.group_coordinator import GroupCoordinator
from kbroker.broker.partition import EndOfTransaction, Partition
from kbroker.broker.partitions import Partitions
from kbroker.broker.refusals import REFUSED, why
from kbroker.cluster.topic_names import CONSUMER_OFFSETS
from kbroker.model import TopicPartition
from kbroker.telemetry.log_lines import get_logger
from kbroker.wire.error_codes import ErrorCode

log = get_logger("transactions")

# Between two attempts: long enough to cost nothing, and nobody waits for a marker without need.
_RETRY_S: Final = 0.1


class Written(NamedTuple):
    """A marker in the log; readers see it when the high watermark has passed ``last_offset``."""

    partition: Partition
    last_offset: int

    @property
    def is_committed(self) -> bool:
        """Whether they do."""
        return self.partition.high_watermark > self.last_offset


class Markers(Protocol):
    """Where markers go; what a cluster puts in the place of `LocalMarkers` asks other brokers."""

    def append(self, place: TopicPartition, end: EndOfTransaction) -> Written | ErrorCode:
        """Append a marker, or say why not."""


class Orderer(Protocol):
    """Who ordered a marker."""

    def is_waiting(self) -> bool:
        """Whether it still wants the marker. Another one may have taken over and ordered it too;
        written late, the second one could end the next transaction of an old client."""

    def on_written(self, place: TopicPartition) -> None:
        """The marker is committed, or never will be."""


class LocalMarkers:
    """The partitions of this broker, as those see them who end transactions."""

    def __init__(self, partitions: Partitions, groups: GroupCoordinator, clock: Clock) -> None:
        self._partitions = partitions
        self._groups = groups
        self._clock = clock

    def append(self, place: TopicPartition, end: EndOfTransaction) -> Written | ErrorCode:
        """Append a marker, or say why not."""
        partition, error = self._partitions.find(*place)
        if partition is None:
            return error
        try:
            if place.topic != CONSUMER_OFFSETS:
                appended = partition.append_marker(end, now_ms=self._clock.timestamp_ms())
            else:
                # The groups must learn what became of the offsets in the transaction.
                driver = self._groups.driver_at(place.partition)
                if isinstance(driver, ErrorCode):
                    return ErrorCode.NOT_LEADER_OR_FOLLOWER
                appended = driver.write_marker(end)
        except REFUSED as refused:
            return why(refused).error
        return Written(partition, appended.last_offset)


class _Marker(NamedTuple):
    """One marker that must be written, and who wants to know when it is."""

    place: TopicPartition
    end: EndOfTransaction
    orderer: Orderer


class MarkerWriter:
    """Markers that are to be written, and those that wait for their commit."""

    def __init__(self, markers: Markers) -> None:
        self._markers = markers
        self._unwritten: list[_Marker] = []
        self._uncommitted: dict[Partition, list[tuple[int, _Marker]]] = {}
        self._wake = trio.Event()

    def write(self, place: TopicPartition, end: EndOfTransaction, orderer: Orderer) -> None:
        """Write a marker, now if possible; its orderer is told when it is committed."""
        self._attempt(_Marker(place, end, orderer))

    def _attempt(self, marker: _Marker) -> None:
        if not marker.orderer.is_waiting():
            return
        written = self._markers.append(marker.place, marker.end)
        if isinstance(written, ErrorCode):
            self._on_error(marker, written)
        elif written.is_committed:
            marker.orderer.on_written(marker.place)
        else:
            waiting = self._uncommitted.setdefault(written.partition, [])
            waiting.append((written.last_offset, marker))
            written.partition.watchers[self] = None

    def _on_error(self, marker: _Marker, error: ErrorCode) -> None:
        match error:
            case ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                marker.orderer.on_written(marker.place)
            case ErrorCode.INVALID_PRODUCER_EPOCH:
                # The partition has heard of a later transaction, so this one has ended there.
                log.warning("a marker is too late", partition=marker.place, marker=marker.end)
                marker.orderer.on_written(marker.place)
            case ErrorCode.TRANSACTION_COORDINATOR_FENCED:
                log.warning("another coordinator is newer", partition=marker.place)
            case _:
                self._unwritten.append(marker)
                self._wake.set()

    def touch(self, partition: Partition) -> None:
        """A partition changed: report what is committed, and begin anew what may be lost."""
        high_watermark = partition.high_watermark
        waiting = self._uncommitted.pop(partition, [])
        committed = [marker for offset, marker in waiting if offset < high_watermark]
        waiting = [(offset, marker) for offset, marker in waiting if offset >= high_watermark]
        if partition.offline:
            self._unwritten += [marker for _, marker in waiting]
            self._wake.set()
            waiting = []
        if waiting:
            self._uncommitted[partition] = waiting
        else:
            partition.watchers.pop(self, None)
        for marker in committed:
            marker.orderer.on_written(marker.place)

    async def run(self) -> None:
        """Try again what could not be written, until cancelled."""
        while True:
            await self._wake.wait()
            await trio.sleep(_RETRY_S)
            self._wake = trio.Event()
            unwritten, self._unwritten = self._unwritten, []
            for marker in unwritten:
                self._attempt(marker)
