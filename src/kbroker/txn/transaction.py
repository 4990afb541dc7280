"""One transactional id as it is known at a moment, and what each step makes of it.

Every step gives a new value and changes nothing; the shard writes it down, and then it counts.

Epochs. A producer id has 32,767 epochs. The last one is for us alone, so that any producer can be
fenced; a producer that has the last but one gets a new id instead of an epoch (T8). In version 2
(KIP-890) each end of a transaction takes an epoch, so that nothing sent for one transaction can
be taken for a part of the next (T1).
"""

from collections.abc import Collection
from typing import NamedTuple

from kbroker.model import TopicPartition
from kbroker.txn.states import AT_REST, MOVES, TransactionState

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
NO_TIMESTAMP = -1
LAST_EPOCH = 2**15 - 1

# The version of transactions from which each end takes an epoch, and the first that has none.
EPOCH_PER_TRANSACTION = 2
OLDEST_VERSION = 0

NO_PARTITIONS: frozenset[TopicPartition] = frozenset()


class Transaction(NamedTuple):
    """What is known of a transactional id.

    ``previous_producer_id`` is the id before a rotation, ``next_producer_id`` the one after it,
    while the end of the transaction that makes the rotation necessary is prepared.
    ``last_producer_epoch`` is the epoch before the present one if the same producer had it, which
    is how its retry is told from a stranger; it is not in the records.
    """

    producer_id: int
    producer_epoch: int
    timeout_ms: int
    update_timestamp_ms: int
    state: TransactionState = TransactionState.EMPTY
    partitions: frozenset[TopicPartition] = NO_PARTITIONS
    start_timestamp_ms: int = NO_TIMESTAMP
    previous_producer_id: int = NO_PRODUCER_ID
    next_producer_id: int = NO_PRODUCER_ID
    last_producer_epoch: int = NO_PRODUCER_EPOCH
    client_version: int = OLDEST_VERSION

    @property
    def is_epoch_exhausted(self) -> bool:
        """Whether the producer cannot have another epoch."""
        return is_exhausted(self.producer_epoch)

    def has_timed_out(self, now_ms: int) -> bool:
        """Whether the transaction runs for longer than its producer said it would."""
        return self.start_timestamp_ms + self.timeout_ms < now_ms

    # Initialising a producer.

    def with_epoch(
        self, producer_epoch: int, last_epoch: int, timeout_ms: int, now_ms: int
    ) -> "Transaction":
        """Ready for the first transaction of a producer with this epoch."""
        return self._replace(
            state=MOVES.move(self.state, TransactionState.EMPTY),
            producer_epoch=producer_epoch,
            last_producer_epoch=last_epoch,
            previous_producer_id=self.producer_id,
            timeout_ms=timeout_ms,
            partitions=NO_PARTITIONS,
            start_timestamp_ms=NO_TIMESTAMP,
            update_timestamp_ms=now_ms,
        )

    def rotated(
        self, producer_id: int, last_epoch: int, timeout_ms: int, now_ms: int
    ) -> "Transaction":
        """The same with a new producer id, because the old one has no epochs left."""
        ready = self.with_epoch(0, last_epoch, timeout_ms, now_ms)
        return ready._replace(producer_id=producer_id)

    # A transaction from its beginning to its end.

    def with_partitions(
        self, partitions: Collection[TopicPartition], client_version: int, now_ms: int
    ) -> "Transaction":
        """The transaction with more partitions; it begins with the first of them."""
        is_new = self.state is not TransactionState.ONGOING
        return self._replace(
            state=MOVES.move(self.state, TransactionState.ONGOING),
            partitions=self.partitions | frozenset(partitions),
            start_timestamp_ms=now_ms if is_new else self.start_timestamp_ms,
            update_timestamp_ms=now_ms,
            client_version=client_version,
        )

    def prepared(
        self, *, committed: bool, client_version: int, next_producer_id: int, now_ms: int
    ) -> "Transaction":
        """The decision. In version 2 it takes an epoch, which the markers carry already (T1)."""
        takes_epoch = client_version >= EPOCH_PER_TRANSACTION
        return self._replace(
            state=MOVES.move(
                self.state,
                TransactionState.PREPARE_COMMIT if committed else TransactionState.PREPARE_ABORT,
            ),
            producer_epoch=self._next_epoch() if takes_epoch else self.producer_epoch,
            last_producer_epoch=self.producer_epoch if takes_epoch else self.last_producer_epoch,
            next_producer_id=next_producer_id,
            start_timestamp_ms=now_ms if self.state in AT_REST else self.start_timestamp_ms,
            update_timestamp_ms=now_ms,
            client_version=client_version,
        )

    def fenced(self, *, client_version: int, now_ms: int) -> "Transaction":
        """The transaction is taken from its producer: aborted, with an epoch it does not have."""
        fencing = self._replace(
            state=MOVES.move(self.state, TransactionState.PREPARE_EPOCH_FENCE)
        ).prepared(
            committed=False,
            client_version=client_version,
            next_producer_id=NO_PRODUCER_ID,
            now_ms=now_ms,
        )
        if client_version >= EPOCH_PER_TRANSACTION:
            return fencing
        # What the end of a transaction does not take, the fence takes.
        return fencing._replace(
            producer_epoch=self._next_epoch(), last_producer_epoch=NO_PRODUCER_EPOCH
        )

    def _next_epoch(self) -> int:
        # No producer has the last epoch, unless a log says so that we did not write.
        return min(self.producer_epoch + 1, LAST_EPOCH)

    def completed(self, now_ms: int) -> "Transaction":
        """Every partition has its marker."""
        committed = self.state is TransactionState.PREPARE_COMMIT
        complete = self._replace(
            state=MOVES.move(
                self.state,
                TransactionState.COMPLETE_COMMIT if committed else TransactionState.COMPLETE_ABORT,
            ),
            partitions=NO_PARTITIONS,
            previous_producer_id=self.producer_id,
            next_producer_id=NO_PRODUCER_ID,
            update_timestamp_ms=now_ms,
        )
        if self.next_producer_id == NO_PRODUCER_ID:
            return complete
        # The client has seen the last but one epoch of the old id, and sees 0 of the new one next.
        return complete._replace(producer_id=self.next_producer_id, producer_epoch=0)


def is_exhausted(producer_epoch: int) -> bool:
    """Whether no other epoch can be given to a producer after this one."""
    return producer_epoch >= LAST_EPOCH - 1
