"""What compaction leaves of one batch.

    record                            stays
    --------------------------------  --------------------------------------------------------
    behind the part that was mapped   always: its round is still to come
    with a later record of its key    never
    without a key                     never: it cannot be in a compacted topic
    tombstone                         until the delete horizon of its batch (C5)
    of an aborted transaction         never
    marker                            until its transaction left no data, and then until the
                                      delete horizon of its batch (C3)

The delete horizon (KIP-534) is ``delete.retention.ms`` after the first round that saw a tombstone
or a marker without data; it is written into the batch. A batch without records goes, unless it is
the last of its producer, whose sequence a replay must find (C2), or the last of the new segment.
Whatever stays keeps its offsets, sequence and leader epoch.
"""

from collections.abc import Mapping
from typing import NamedTuple

from kbroker.log.cleaned_transactions import CleanedTransactions
from kbroker.log.offset_map import OffsetMap
from kbroker.records import BatchHeader, Buffer, Record, parse_records, rebuild_batch


class LastBatch(NamedTuple):
    """Where a producer's last data ends, -1 without data in its epoch, and that epoch."""

    last_offset: int
    producer_epoch: int


class BatchRetention:
    """Decides batch by batch, in the order of the log; counts what it sees."""

    __slots__ = (
        "_delete_horizon_ms",
        "_last_batches",
        "_now_ms",
        "_offsets",
        "_transactions",
        "keyless_records",
        "records_read",
        "records_written",
    )

    def __init__(
        self,
        offsets: OffsetMap,
        transactions: CleanedTransactions,
        last_batches: Mapping[int, LastBatch],
        *,
        now_ms: int,
        delete_retention_ms: int,
    ) -> None:
        self._offsets = offsets
        self._transactions = transactions
        self._last_batches = last_batches
        self._now_ms = now_ms
        self._delete_horizon_ms = now_ms + delete_retention_ms
        self.records_read = 0
        self.records_written = 0
        self.keyless_records = 0

    def retain(
        self, header: BatchHeader, batch: Buffer, *, keep_header: bool = False
    ) -> Buffer | None:
        """The batch as it shall be from now on: as it is, with fewer records, or not at all.

        RecordsError if its records cannot be read; nothing that cannot be read is dropped.
        """
        self.records_read += header.record_count
        has_empty_transaction = False
        records: list[Record] = []
        kept: list[Record] = []
        if header.is_control:
            records = parse_records(batch, header)
            has_empty_transaction = self._transactions.is_obsolete(header, records)
            if not (has_empty_transaction and self._is_past_horizon(header)):
                kept = records
        elif not self._transactions.is_aborted(header):
            records = parse_records(batch, header)
            kept = [record for record in records if self._keeps(header, record)]
        self.records_written += len(kept)
        if not kept:
            if keep_header or self._is_last_of_producer(header):
                return rebuild_batch(header, ())
            return None
        needs_horizon = has_empty_transaction or any(record.value is None for record in kept)
        if needs_horizon and not header.has_delete_horizon:
            return rebuild_batch(header, kept, delete_horizon_ms=self._delete_horizon_ms)
        return batch if len(kept) == len(records) else rebuild_batch(header, kept)

    def _keeps(self, header: BatchHeader, record: Record) -> bool:
        if record.offset > self._offsets.latest_offset:
            return True
        if record.key is None:
            self.keyless_records += 1
            return False
        if self._offsets.supersedes(record.key, record.offset):
            return False
        return record.value is not None or not self._is_past_horizon(header)

    def _is_past_horizon(self, header: BatchHeader) -> bool:
        return header.has_delete_horizon and header.base_timestamp_ms <= self._now_ms

    def _is_last_of_producer(self, header: BatchHeader) -> bool:
        last = self._last_batches.get(header.producer_id)
        if header.producer_id < 0 or last is None:
            return False
        if last.last_offset >= 0:
            return header.last_offset == last.last_offset
        return header.is_control and header.producer_epoch == last.producer_epoch
