"""Offsets of a transaction on their way into a shard of groups: its coordinator must agree first.

The partition of ``__consumer_offsets`` is one of the transaction's like any other. Offsets that go
on with a transaction which has begun there are written at once. Before the first of them the
coordinator adds the partition (version 2, KIP-890) or confirms that the producer has added it
(version 1, AddOffsetsToTxn); they are written the moment its word comes, if nothing has ended the
transaction here meanwhile (T2), and whether the client still waits or not.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

import trio

from kbroker.broker.group_coordinator import GroupCoordinator
from kbroker.broker.partition import Partition
from kbroker.broker.requests import Later
from kbroker.broker.shard_driver import Producer, Waiting
from kbroker.broker.transaction_coordinator import TransactionCoordinator
from kbroker.groups import GroupRecord, GroupShard
from kbroker.log import InvalidProducerEpoch, Verification
from kbroker.machine import Outcome, Ticket
from kbroker.records import build_batch, read_header
from kbroker.txn import Verdict, Writer
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.message import Message

Answer = TypeVar("Answer", bound=Message)

# From these versions of TxnOffsetCommit on the broker adds the partition itself, and clients know
# that a transaction can be aborted after an error.
_ADDS_VERSION: Final = 5
_ABORTABLE_VERSION: Final = 4
# The version of transactions that such clients speak.
_EPOCH_PER_TRANSACTION: Final = 2

# The coordinator of the transaction is not the one that the client asked; it shall try again.
_ELSEWHERE: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


class TransactionalOffsets(Generic[Answer]):
    """One TxnOffsetCommit: `begin` it, and it is carried out."""

    def __init__(
        self,
        groups: GroupCoordinator,
        transactions: TransactionCoordinator,
        group_id: str,
        writer: Writer,
        api_version: int,
        operation: Callable[[GroupShard, Ticket], Outcome[GroupRecord, Message]],
        refuse: Callable[[ErrorCode], Answer],
    ) -> None:
        self._groups = groups
        self._transactions = transactions
        self._group_id = group_id
        self._writer = writer
        self._version = api_version
        self._operation = operation
        self._refuse = refuse

    def begin(self) -> Answer | Later[Answer]:
        """The shard's answer or a refusal, now or later."""
        driver = self._groups.driver_of(self._group_id)
        if isinstance(driver, ErrorCode):
            return self._refuse(driver)
        partition = driver.partition
        try:
            verification = self._ask_partition(partition)
        except InvalidProducerEpoch:
            return self._refuse(ErrorCode.INVALID_PRODUCER_EPOCH)
        if verification is None:
            return self._write()
        place = partition.topic_partition
        if self._version >= _ADDS_VERSION:
            word = self._transactions.add_partitions(self._writer, [place], _EPOCH_PER_TRANSACTION)
        else:
            word = self._transactions.verify_partition(self._writer, place)
        if isinstance(word, Verdict):
            return self._on_word(word, partition, verification)
        assert isinstance(word, Waiting)
        return _Verifying(word, lambda word: self._on_word(word, partition, verification))

    def _ask_partition(self, partition: Partition) -> Verification | None:
        adds = self._version >= _ADDS_VERSION
        if not adds and not self._transactions.verifies:
            return None
        # What a log asks a batch for, which is not made yet.
        first = build_batch(
            [],
            producer_id=self._writer.producer_id,
            producer_epoch=self._writer.producer_epoch,
            is_transactional=True,
        )
        return partition.log.producers.begin_verification(
            read_header(first), takes_epochs=adds, now_ms=self._groups.timestamp_ms()
        )

    def _on_word(
        self, word: Verdict, partition: Partition, verification: Verification
    ) -> Answer | Later[Answer]:
        error = ErrorCode(word.error_code)
        if error is not ErrorCode.NONE:
            return self._refuse(self._in_words_of_the_client(error))
        producer_id, producer_epoch = self._writer.producer_id, self._writer.producer_epoch
        producers = partition.log.producers
        if not producers.is_verified(producer_id, producer_epoch, verification):
            return self._refuse(ErrorCode.INVALID_TXN_STATE)
        return self._write()

    def _write(self) -> Answer | Later[Answer]:
        producer = Producer(self._writer.producer_id, self._writer.producer_epoch)
        return self._groups.perform(self._group_id, self._operation, self._refuse, producer)

    def _in_words_of_the_client(self, error: ErrorCode) -> ErrorCode:
        if error is ErrorCode.PRODUCER_FENCED:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if error is ErrorCode.TRANSACTION_ABORTABLE and self._version < _ABORTABLE_VERSION:
            return ErrorCode.INVALID_TXN_STATE
        is_old_and_busy = (
            error is ErrorCode.CONCURRENT_TRANSACTIONS and self._version < _ADDS_VERSION
        )
        if error in _ELSEWHERE or is_old_and_busy:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return error


class _Verifying(Later[Answer], Generic[Answer]):
    """Offsets that wait for the word of the transaction's coordinator."""

    __slots__ = ("_answer", "_done")

    def __init__(
        self, word: Waiting[Verdict], go_on: Callable[[Verdict], Answer | Later[Answer]]
    ) -> None:
        self._done = trio.Event()
        self._answer: Answer | Later[Answer] | None = None

        def on_word(word: Verdict) -> None:
            self._answer = go_on(word)
            self._done.set()

        word.then(on_word)

    async def finish(self) -> Answer:
        """Wait for the word, then for the shard."""
        await self._done.wait()
        assert self._answer is not None
        return await self._answer.finish() if isinstance(self._answer, Later) else self._answer
