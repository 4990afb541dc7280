"""ListTransactions and DescribeTransactions."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from kbroker.txn.states import BY_TITLE, TransactionState
from kbroker.txn.transaction import Transaction
from kbroker.wire import ErrorCode
from kbroker.wire.messages.describe_transactions import TopicData
from kbroker.wire.messages.describe_transactions import TransactionState as Described
from kbroker.wire.messages.list_transactions import TransactionState as Listed


@dataclass(frozen=True, slots=True)
class TransactionFilter:
    """Which transactions are asked for; what is empty or None asks for all.

    ``longer_than_ms`` is about the time since the transaction began; ids that never had one count
    as having begun long ago, as in Kafka.
    """

    state_titles: Collection[str] = ()
    producer_ids: Collection[int] = ()
    longer_than_ms: int | None = None
    matches_id: Callable[[str], bool] | None = None

    @property
    def unknown_titles(self) -> list[str]:
        """States that were asked for and do not exist."""
        return [title for title in self.state_titles if title not in BY_TITLE]

    def _lets_through(self, transactional_id: str, transaction: Transaction, now_ms: int) -> bool:
        if self.producer_ids and transaction.producer_id not in self.producer_ids:
            return False
        if self.state_titles and transaction.state.title not in self.state_titles:
            return False
        if (
            self.longer_than_ms is not None
            and now_ms - transaction.start_timestamp_ms <= self.longer_than_ms
        ):
            return False
        return self.matches_id is None or self.matches_id(transactional_id)

    def listed(self, transactions: Iterable[tuple[str, Transaction]], now_ms: int) -> list[Listed]:
        """Those that were asked for."""
        return [
            Listed(
                transactional_id=transactional_id,
                producer_id=transaction.producer_id,
                transaction_state=transaction.state.title,
            )
            for transactional_id, transaction in transactions
            if self._lets_through(transactional_id, transaction, now_ms)
        ]


def describe(transactional_id: str, transaction: Transaction | None) -> Described:
    """One transactional id as DescribeTransactions shows it."""
    if transaction is None:
        return Described(
            transactional_id=transactional_id, error_code=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        )
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(transaction.partitions):
        topics.setdefault(topic, []).append(partition)
    return Described(
        transactional_id=transactional_id,
        transaction_state=TransactionState(transaction.state).title,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.start_timestamp_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        topics=[TopicData(topic=name, partitions=numbers) for name, numbers in topics.items()],
    )
