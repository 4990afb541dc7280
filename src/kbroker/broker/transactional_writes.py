"""Batches of a transaction on their way into the log: the coordinator must agree first.

A batch that goes on with a transaction which has begun on its partition is appended at once. The
first one is not. In version 2 (KIP-890) the partition is added to the transaction now; in version
1 the producer has done that itself, and it is verified. Either way the coordinator's word comes
before the append, and the append happens the moment it comes, in the order of the requests:

    here, and committed   the word is there at once; all happens while the request is begun
    not yet committed     the batches are copied, and appended when the word is released; words
                          are released in order, so no batch overtakes another of its producer

A request that the client gives up meanwhile is carried out all the same.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

import trio

from kbroker.broker.partition import Partition
from kbroker.broker.refusals import REFUSED, Refusal, why
from kbroker.broker.requests import Later
from kbroker.broker.shard_driver import Waiting
from kbroker.broker.transaction_coordinator import TransactionCoordinator
from kbroker.log import Appended, Verification
from kbroker.records import read_header
from kbroker.txn import Verdict, Writer
from kbroker.wire.error_codes import ErrorCode

# From these versions of Produce on the broker adds partitions itself (KIP-890 part 2), and clients
# know that a transaction can be aborted after an error (KIP-1050).
_ADDS_VERSION: Final = 12
_ABORTABLE_VERSION: Final = 11
# The version of transactions that such clients speak.
_EPOCH_PER_TRANSACTION: Final = 2

# What clients try again although they do not know the code. Kafka picks this one because it makes
# them look for no other leader.
_TRY_AGAIN: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)

# What became of a batch.
WrittenTo: TypeAlias = Appended
OnWritten: TypeAlias = Callable[[WrittenTo | Refusal], None]


class _Write:
    """One batch that waits for the coordinator's word."""

    __slots__ = ("on_written", "partition", "records", "verification")

    def __init__(
        self,
        partition: Partition,
        records: memoryview | bytearray,
        verification: Verification,
        on_written: OnWritten,
    ) -> None:
        self.partition = partition
        self.records = records
        self.verification = verification
        self.on_written = on_written


class TransactionalWrites:
    """The transactional batches of one Produce request: `add` each, then `ask` for all."""

    __slots__ = ("_coordinator", "_done", "_now_ms", "_version", "_waiting", "_writer", "_writes")

    def __init__(
        self,
        coordinator: TransactionCoordinator,
        *,
        api_version: int,
        now_ms: int,
    ) -> None:
        self._coordinator = coordinator
        self._version = api_version
        self._now_ms = now_ms
        self._writer: Writer | None = None
        self._writes: list[_Write] = []
        self._waiting = 0
        self._done = trio.Event()

    @property
    def adds_partitions(self) -> bool:
        """Whether the broker adds partitions to the transaction, or only verifies them."""
        return self._version >= _ADDS_VERSION

    def add(
        self,
        transactional_id: str,
        partition: Partition,
        records: memoryview,
        on_written: OnWritten,
    ) -> None:
        """Append a batch now or after `ask`; ``on_written`` says what became of it."""
        header = read_header(records)
        writer = Writer(transactional_id, header.producer_id, header.producer_epoch)
        if self._writer is not None and self._writer != writer:
            message = "Transactional records contained more than one producer ID"
            on_written(Refusal(ErrorCode.INVALID_PRODUCER_ID_MAPPING, message))
            return
        self._writer = writer
        producers = partition.log.producers
        try:
            verification = producers.begin_verification(
                header, takes_epochs=self.adds_partitions, now_ms=self._now_ms
            )
            if verification is None:
                on_written(partition.append(records, now_ms=self._now_ms))
            else:
                self._writes.append(_Write(partition, records, verification, on_written))
        except REFUSED as refused:
            on_written(why(refused))

    def ask(self) -> bool:
        """Ask the coordinator for all that were added; False if its word is still to come.

        What is to come is awaited with `finish`. The memory of the request is not used after this.
        """
        if not self._writes:
            return True
        assert self._writer is not None
        if self.adds_partitions:
            places = [write.partition.topic_partition for write in self._writes]
            verdict = self._coordinator.add_partitions(
                self._writer, places, _EPOCH_PER_TRANSACTION, may_wait=True
            )
            self._expect(verdict, self._writes)
        elif self._coordinator.verifies:
            for write in self._writes:
                place = write.partition.topic_partition
                verdict = self._coordinator.verify_partition(self._writer, place)
                self._expect(verdict, [write])
        else:
            self._carry_out(Verdict(), self._writes)
        return self._waiting == 0

    def _expect(self, verdict: Verdict | Later[Verdict], writes: list[_Write]) -> None:
        if isinstance(verdict, Verdict):
            self._carry_out(verdict, writes)
            return
        assert isinstance(verdict, Waiting)
        for write in writes:
            write.records = bytearray(write.records)
        self._waiting += 1

        def go_on(verdict: Verdict) -> None:
            self._carry_out(verdict, writes)
            self._waiting -= 1
            if self._waiting == 0:
                self._done.set()

        verdict.then(go_on)

    def _carry_out(self, verdict: Verdict, writes: list[_Write]) -> None:
        error = ErrorCode(verdict.error_code)
        for write in writes:
            if error is not ErrorCode.NONE:
                write.on_written(self._refusal(error))
                continue
            try:
                appended = write.partition.append(
                    write.records, now_ms=self._now_ms, verification=write.verification
                )
            except REFUSED as refused:
                write.on_written(why(refused))
            else:
                write.on_written(appended)

    def _refusal(self, error: ErrorCode) -> Refusal:
        """The coordinator's error in the words that the producer knows."""
        if error is ErrorCode.PRODUCER_FENCED:
            # Not fatal to a producer that gets it for a batch, unlike the other one (P5).
            return Refusal(ErrorCode.INVALID_PRODUCER_EPOCH, "")
        if error is ErrorCode.TRANSACTION_ABORTABLE and self._version < _ABORTABLE_VERSION:
            message = "Partition was not added to the transaction"
            return Refusal(ErrorCode.INVALID_TXN_STATE, message)
        is_old_and_busy = error is ErrorCode.CONCURRENT_TRANSACTIONS and not self.adds_partitions
        if error in _TRY_AGAIN or is_old_and_busy:
            message = (
                "Unable to verify the partition has been added to the transaction. Underlying"
                f" error: {error.name}"
            )
            return Refusal(ErrorCode.NOT_ENOUGH_REPLICAS, message)
        return Refusal(error, "")

    async def finish(self) -> None:
        """Wait until every batch is appended or refused."""
        await self._done.wait()
