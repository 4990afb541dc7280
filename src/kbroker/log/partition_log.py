"""One partition on disk (Kafka's UnifiedLog, without the high watermark).

The life of an append: check the batch, give it offset and leader epoch where it lies, write it
with one call, take note of it. All that can be refused is refused before the write; a write that
fails is undone; the state changes only after it (P7, L4, L10). Nothing here waits, and nothing
reads a clock.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

from kbroker.config import TopicConfig
from kbroker.log.disk import REAL_DISK, Disk, storage_errors
from kbroker.log.errors import (
    CorruptLog,
    InconsistentTopicId,
    OffsetOutOfRange,
    StorageError,
    UnexpectedOffset,
)
from kbroker.log.local_log import LocalLog
from kbroker.log.partition_metadata import read_partition_metadata, write_partition_metadata
from kbroker.log.producer_entry import AppendedBatch
from kbroker.log.producer_state import (
    DEFAULT_EXPIRATION_MS,
    DEFAULT_MAX_PRODUCERS,
    ActiveProducer,
    ProducerState,
)
from kbroker.log.recovery import (
    Loader,
    marker_in,
)
from kbroker.log.segment import Segment
from kbroker.log.timestamps import FoundOffset, find_by_timestamp, find_max_timestamp
from kbroker.log.validation import validate
from kbroker.log.verification import Verification
from kbroker.model import FileSlice, TopicPartition, Uuid, uuid_to_text
from kbroker.records import (
    NO_TIMESTAMP,
    BatchHeader,
    CorruptRecords,
    RecordsError,
    check_produced,
    crc_matches,
    read_header,
    scan_batches,
    stamp,
    stamp_log_append_time,
)
from kbroker.records.header import LOG_APPEND_TIME_BIT


@dataclass(slots=True)
class Appended:
    """Where a batch is in the log, now or since it came for the first time (``duplicate``)."""

    first_offset: int
    last_offset: int
    log_append_time_ms: int  # -1 where records keep the time of their creation
    log_start_offset: int
    duplicate: bool = False


class AbortedTransaction(NamedTuple):
    """What a fetch tells a consumer to skip: the records of a producer from an offset on."""

    producer_id: int
    first_offset: int


class PartitionLog(LocalLog):
    """The log of one partition: what `LocalLog` keeps, and appending to it and reading from it."""

    __slots__ = ()

    @classmethod
    def open(
        cls,
        directory: str,
        *,
        topic_partition: TopicPartition,
        topic_id: Uuid,
        config: TopicConfig,
        recovery_point: int = 0,
        log_start_offset: int = 0,
        clean: bool = False,
        now_ms: int,
        disk: Disk = REAL_DISK,
        producer_expiration_ms: int = DEFAULT_EXPIRATION_MS,
        max_producers: int = DEFAULT_MAX_PRODUCERS,
    ) -> Self:
        """Open the partition in ``directory``, or begin a new one there.

        Raises InconsistentTopicId if the directory belongs to another topic, CorruptLog if its
        files make no sense, StorageError if the disk does not work.
        """
        producers = ProducerState(expiration_ms=producer_expiration_ms, max_producers=max_producers)
        try:
            _prepare_directory(disk, directory, topic_id)
            loader = Loader(disk, directory, config, producers, now_ms)
            loaded = loader.load(
                recovery_point=recovery_point, log_start_offset=log_start_offset, clean=clean
            )
        except RecordsError as error:
            raise CorruptLog(f"{directory}: {error}") from error
        except OSError as error:
            raise StorageError(f"{directory}: {error}") from error
        return cls(directory, topic_partition, topic_id, config, loaded, disk, now_ms)

    # Appending.

    def append(
        self,
        records: memoryview | bytearray,
        *,
        leader_epoch: int,
        now_ms: int,
        from_client: bool = True,
        verification: Verification | None = None,
    ) -> Appended:
        """Append the batch of a client, or batches of our own, as the leader of ``leader_epoch``.

        ``records`` are stamped where they lie. All or nothing: raises a LogError or RecordsError
        and leaves the log as it was. A duplicate of one of the producer's last batches is not
        appended, and where the first is, is the answer (P1). For ``verification`` see the module.
        """
        if not from_client:
            return self.append_own(records, leader_epoch=leader_epoch, now_ms=now_ms)
        header = check_produced(records)
        size_bytes = len(records)
        timestamp_ms = header.max_timestamp_ms
        log_append_time_ms = NO_TIMESTAMP
        if not (
            self._is_opaque
            and size_bytes <= self._max_message_bytes
            and header.base_timestamp_ms <= timestamp_ms <= now_ms + self._after_max_ms
            and not header.attributes & LOG_APPEND_TIME_BIT
        ):
            records, header, log_append_time_ms = validate(
                records, header, self._config, topic_partition=self.topic_partition, now_ms=now_ms
            )
            size_bytes = len(records)
            timestamp_ms = header.max_timestamp_ms

        is_from_producer = header.producer_id >= 0
        if is_from_producer:
            duplicate = self.producers.check(header, verification=verification)
            if duplicate is not None:
                return self._appended_before(duplicate)

        first_offset = self.log_end_offset
        last_offset = first_offset + header.last_offset_delta
        self._append_one(records, size_bytes, last_offset, timestamp_ms, leader_epoch, now_ms)
        if is_from_producer:
            self.producers.replay(header, first_offset=first_offset)
        return Appended(first_offset, last_offset, log_append_time_ms, self.log_start_offset)

    def _append_one(
        self,
        records: memoryview | bytearray,
        size_bytes: int,
        last_offset: int,
        timestamp_ms: int,
        leader_epoch: int,
        now_ms: int,
    ) -> None:
        """Stamp one batch, write it, and take note of it in the indexes."""
        first_offset = self.log_end_offset
        segment = self.segments.active
        if (
            last_offset > segment.last_possible_offset
            or segment.size_bytes + size_bytes > segment.limit_bytes
            or timestamp_ms > segment.roll_after_ms
        ):
            segment = self._ready_segment(
                first_offset, last_offset, size_bytes, timestamp_ms, now_ms
            )
        if leader_epoch != self.leader_epochs.latest:
            self.assign_epoch_start(leader_epoch)
        stamp(records, 0, base_offset=first_offset, leader_epoch=leader_epoch)
        position = segment.size_bytes
        segment.write(records, size_bytes)
        self.log_end_offset = last_offset + 1
        segment.index_batch(position, last_offset, timestamp_ms, size_bytes, self._interval_bytes)

    def _appended_before(self, batch: AppendedBatch) -> Appended:
        """The answer to a duplicate; Kafka gives the batch's timestamp as its append time."""
        return Appended(
            batch.first_offset,
            batch.last_offset,
            batch.timestamp_ms,
            self.log_start_offset,
            duplicate=True,
        )

    def append_own(
        self,
        records: memoryview | bytearray,
        *,
        leader_epoch: int,
        now_ms: int,
        transaction_version: int = 0,
    ) -> Appended:
        """Append batches that the broker built: markers, and the records of coordinators.

        ``transaction_version`` is that of the producer whose transaction a marker ends.
        """
        first_offset = next_offset = self.log_end_offset
        is_append_time = self._config.message_timestamp_type == "LogAppendTime"
        header = read_header(records)
        if header.producer_id < 0 and header.size_bytes == len(records) and not is_append_time:
            # One batch outside of any transaction, as coordinators write them all the time.
            last_offset = first_offset + header.last_offset_delta
            self._append_one(
                records, len(records), last_offset, header.max_timestamp_ms, leader_epoch, now_ms
            )
            return Appended(first_offset, last_offset, NO_TIMESTAMP, self.log_start_offset)
        for position, header in list(scan_batches(records)):
            if is_append_time:
                stamp_log_append_time(records, position, timestamp_ms=now_ms)
            marker = marker_in(header, memoryview(records)[position:])
            if marker is not None:
                self.producers.check_marker(header, marker, transaction_version=transaction_version)
            elif header.producer_id >= 0:
                self.producers.check(header, from_client=False)
            stamp(records, position, base_offset=next_offset, leader_epoch=leader_epoch)
            next_offset += header.last_offset_delta + 1
        self._append_stamped(records, now_ms)
        return Appended(
            first_offset,
            next_offset - 1,
            now_ms if is_append_time else NO_TIMESTAMP,
            self.log_start_offset,
        )

    def append_as_follower(self, records: memoryview | bytearray, *, now_ms: int) -> None:
        """Append batches as the leader has them, with its offsets and epochs (P6).

        A piece of a batch at the end, as fetches have it, is left out. Raises CorruptRecords if a
        CRC does not match, UnexpectedOffset if a batch does not come behind the log end.
        """
        whole_bytes = 0
        next_offset = self.log_end_offset
        view = memoryview(records)
        while whole_bytes + 12 <= len(view):
            size_bytes = int.from_bytes(view[whole_bytes + 8 : whole_bytes + 12], "big") + 12
            if whole_bytes + size_bytes > len(view):
                break
            header = read_header(view, whole_bytes)
            if header.magic != 2 or not crc_matches(view, whole_bytes, header):
                raise CorruptRecords(f"a bad batch behind offset {next_offset - 1}")
            if header.base_offset < next_offset:
                raise UnexpectedOffset(f"offset {header.base_offset} instead of {next_offset}")
            next_offset = header.next_offset
            whole_bytes += size_bytes
        if whole_bytes:
            self._append_stamped(view[:whole_bytes], now_ms)

    def _append_stamped(self, records: memoryview | bytearray, now_ms: int) -> None:
        """Write batches that have their offsets and epochs, and take note of them."""
        batches = list(scan_batches(records))
        first = batches[0][1]
        last_offset = batches[-1][1].last_offset
        timestamp_ms = max(header.max_timestamp_ms for _, header in batches)
        segment = self.segments.active
        if (
            last_offset > segment.last_possible_offset
            or segment.size_bytes + len(records) > segment.limit_bytes
            or timestamp_ms > segment.roll_after_ms
        ):
            segment = self._ready_segment(
                first.base_offset, last_offset, len(records), timestamp_ms, now_ms
            )
        for _, header in batches:
            if header.partition_leader_epoch > self.leader_epochs.latest:
                self.leader_epochs.assign(header.partition_leader_epoch, header.base_offset)
        start = segment.size_bytes
        segment.write(records, len(records))
        self.log_end_offset = last_offset + 1
        view = memoryview(records)
        for position, header in batches:
            segment.index_batch(
                start + position,
                header.last_offset,
                header.max_timestamp_ms,
                header.size_bytes,
                self._interval_bytes,
            )
            if header.producer_id >= 0:
                self._replay(segment, header, view[position:])

    def _replay(self, segment: Segment, header: BatchHeader, batch: memoryview) -> None:
        marker = marker_in(header, batch)
        if marker is not None and not marker.committed:
            aborted = self.producers.aborted_by(header, header.base_offset)
            if aborted is not None:
                segment.transaction_index.append(aborted)
                segment.has_aborted = True
        self.producers.replay(header, first_offset=header.base_offset, marker=marker)

    # Reading.

    def read(
        self, offset: int, max_bytes: int, *, up_to: int, at_least_one_batch: bool = True
    ) -> FileSlice | None:
        """Batches from the one that holds ``offset`` on, below ``up_to``; None if there are none.

        They lie in one segment. The slice may end inside a batch where ``max_bytes`` cuts it, but
        not inside the first one: that comes whole if ``at_least_one_batch``, else there is no
        slice. Raises OffsetOutOfRange.
        """
        log_end_offset = self.log_end_offset
        if not self.log_start_offset <= offset <= log_end_offset:
            raise OffsetOutOfRange(
                f"offset {offset} of {self.topic_partition} is not within"
                f" {self.log_start_offset} and {log_end_offset}"
            )
        if offset >= up_to or offset == log_end_offset:
            return None
        try:
            return self.segments.read(
                offset,
                max_bytes,
                up_to=up_to,
                log_end_offset=log_end_offset,
                at_least_one=at_least_one_batch,
            )
        except OSError as error:
            raise StorageError(f"{self.directory}: {error}") from error

    def upper_bound_offset(self, file_slice: FileSlice) -> int:
        """An offset behind all records of a slice that was just read: the end to ask
        `aborted_transactions` for."""
        return self.segments.upper_bound(file_slice, self.log_end_offset)

    def aborted_transactions(self, start_offset: int, end_offset: int) -> list[AbortedTransaction]:
        """The aborted transactions with records in the range (T10)."""
        return [
            AbortedTransaction(entry.producer_id, entry.first_offset)
            for entry in self.segments.aborted(start_offset, end_offset)
        ]

    def last_stable_offset(self, high_watermark: int) -> int:
        """The end of what read_committed may see (T9)."""
        first = self.producers.first_unstable_offset
        if first is None or first >= high_watermark:
            return high_watermark
        return max(first, self.log_start_offset)

    def on_high_watermark(self, high_watermark: int) -> None:
        """Let decided transactions become stable whose marker is committed."""
        self.producers.on_high_watermark(high_watermark)

    def offset_for_timestamp(self, timestamp_ms: int, *, up_to: int) -> FoundOffset | None:
        """The first record that is not older than ``timestamp_ms``, if it is below ``up_to``."""
        with storage_errors(self.directory):
            found = find_by_timestamp(
                self.segments, timestamp_ms, start_offset=self.log_start_offset
            )
        return found if found is not None and found.offset < up_to else None

    def max_timestamp_offset(self) -> FoundOffset | None:
        """The first record with the largest timestamp; None if no record has one."""
        with storage_errors(self.directory):
            return find_max_timestamp(self.segments)

    def active_producers(self) -> list[ActiveProducer]:
        """The producers, for DescribeProducers."""
        return self.producers.active_producers()


def _prepare_directory(disk: Disk, directory: str, topic_id: Uuid) -> None:
    """Make the directory and its ``partition.metadata``, or see that it is ours."""
    is_new = not disk.exists(directory)
    if is_new:
        disk.make_directory(directory)
    found = None if is_new else read_partition_metadata(disk, directory)
    if found is None:
        write_partition_metadata(disk, directory, topic_id)
        disk.sync_directory(directory.rpartition("/")[0] if is_new else directory)
    elif found != topic_id:
        raise InconsistentTopicId(f"{directory} belongs to the topic {uuid_to_text(found)}")
