"""What a partition knows of one idempotent or transactional producer (ProducerStateEntry)."""

from typing import NamedTuple

from kbroker.records import NO_SEQUENCE, NO_TIMESTAMP

# A Java producer has at most five requests in flight, so an older batch is never sent again (P1).
BATCHES_TO_RETAIN = 5
MAX_SEQUENCE = 2**31 - 1
NO_OFFSET = -1
NO_COORDINATOR_EPOCH = -1


class AppendedBatch(NamedTuple):
    """A batch in the log: its sequences, its offsets and its max timestamp."""

    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp_ms: int


class ProducerEntry:
    """The epoch of a producer, its last batches and its open transaction.

    Nothing is checked here: that is `ProducerState.check`, before the append. What is in the log
    is taken as it is (P6).
    """

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "last_timestamp_ms",
        "next_sequence",
        "producer_epoch",
        "producer_id",
        "transaction_first_offset",
    )

    def __init__(self, producer_id: int, producer_epoch: int) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.coordinator_epoch = NO_COORDINATOR_EPOCH
        self.last_timestamp_ms = NO_TIMESTAMP
        self.transaction_first_offset = NO_OFFSET
        self.batches: list[AppendedBatch] = []  # of this epoch, oldest first
        self.next_sequence = 0

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record of this epoch, -1 if it has none."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def add(self, producer_epoch: int, batch: AppendedBatch) -> None:
        """Take note of a batch in the log."""
        if producer_epoch != self.producer_epoch:
            self.begin_epoch(producer_epoch)
        batches = self.batches
        batches.append(batch)
        if len(batches) > BATCHES_TO_RETAIN:
            del batches[0]
        self.next_sequence = (batch.last_sequence + 1) & MAX_SEQUENCE
        self.last_timestamp_ms = batch.timestamp_ms

    def end_transaction(
        self, producer_epoch: int, coordinator_epoch: int, timestamp_ms: int
    ) -> None:
        """Take note of a marker, which also keeps the producer from expiring (P9)."""
        if producer_epoch != self.producer_epoch:
            self.begin_epoch(producer_epoch)
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp_ms = timestamp_ms
        self.transaction_first_offset = NO_OFFSET

    def begin_epoch(self, producer_epoch: int) -> None:
        """Forget the batches of the old epoch; the sequence begins with 0 again."""
        self.producer_epoch = producer_epoch
        self.batches = []
        self.next_sequence = 0

    def find_duplicate(
        self, producer_epoch: int, first_sequence: int, last_sequence: int
    ) -> AppendedBatch | None:
        """The batch in the log that has exactly these sequences, if it is one of the last five."""
        if producer_epoch == self.producer_epoch:
            for batch in self.batches:
                if batch.first_sequence == first_sequence and batch.last_sequence == last_sequence:
                    return batch
        return None
