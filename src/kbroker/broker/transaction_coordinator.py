"""The coordinator of all transactional ids whose records lie in partitions that this broker leads.

A transactional id belongs to the partition of ``__transaction_state`` that its hash names, and so
to that partition's shard. The shard orders markers; they are written here and reported back to
it. The leader epoch of the partition is the epoch of the coordinator, which markers carry, so that
a coordinator that has lost its partition cannot end transactions any more (T5).
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress

from kbroker.broker.clock import Clock
from kbroker.broker.coordinator import Coordinator
from kbroker.broker.features import TRANSACTION_VERSION
from kbroker.broker.markers import MarkerWriter
from kbroker.broker.partition import EndOfTransaction, Partition
from kbroker.broker.partitions import Partitions
from kbroker.broker.requests import Later
from kbroker.broker.shard_driver import RecordFormat, ShardDriver, ShardState
from kbroker.broker.stored_records import stored_records
from kbroker.cluster import ClusterImage
from kbroker.cluster.topic_names import TRANSACTION_STATE
from kbroker.config import BrokerConfig
from kbroker.groups.regex import InvalidRegexError, Regex
from kbroker.model import TopicPartition
from kbroker.records import Record
from kbroker.txn import (
    TransactionFilter,
    TransactionRecord,
    TransactionSettings,
    TransactionShard,
    Verdict,
    WriteMarkers,
    Writer,
    decode_record,
    encode_record,
)
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.errors import ProtocolError
from kbroker.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)

TRANSACTION_RECORDS = RecordFormat("transaction", encode_record, decode_record)

_Driver = ShardDriver[TransactionShard, TransactionRecord]


class TransactionCoordinator(Coordinator[TransactionShard, TransactionRecord]):
    """All shards of this broker, found by transactional id."""

    def __init__(
        self,
        partitions: Partitions,
        image: Callable[[], ClusterImage],
        config: Callable[[], BrokerConfig],
        create_topics: Callable[[list[str]], Awaitable[object]],
        clock: Clock,
        markers: MarkerWriter,
    ) -> None:
        super().__init__(TRANSACTION_STATE, partitions, image, create_topics, clock)
        self._config = config
        self._markers = markers

    def configure(self) -> None:
        """The configs or the features changed."""
        settings = self._settings()
        for driver in self._drivers.values():
            driver.shard.configure(settings)

    def _settings(self) -> TransactionSettings:
        version = self._image().features.levels.get(TRANSACTION_VERSION, 0)
        return TransactionSettings.of(self._config(), version)

    # Writing in transactions.

    def writer(self, transactional_id: str, producer_id: int, producer_epoch: int) -> Writer:
        """Who wants to write, as shards see it."""
        return Writer(transactional_id, producer_id, producer_epoch)

    @property
    def verifies(self) -> bool:
        """Whether partitions ask us before a client of version 1 begins to write."""
        return self._config().get_bool("transaction.partition.verification.enable")

    def add_partitions(
        self,
        writer: Writer,
        partitions: Collection[TopicPartition],
        client_version: int,
        *,
        may_wait: bool = False,
    ) -> Verdict | Later[Verdict]:
        """Take partitions into the writer's transaction; nobody writes before it is durable.

        One that ``may_wait`` does so for a while if the transaction before is still ending.
        """
        if not writer.transactional_id:
            return Verdict(error_code=ErrorCode.INVALID_REQUEST)
        wait_until = None
        if may_wait:
            patience_ms = self._config().get_int("add.partitions.to.txn.retry.backoff.max.ms")
            wait_until = self.now() + patience_ms / 1000
        return self.perform(
            writer.transactional_id,
            lambda shard, ticket: shard.add_partitions(
                writer, partitions, client_version, ticket, self.timestamp_ms(), wait_until
            ),
            _refused,
        )

    def verify_partition(
        self, writer: Writer, partition: TopicPartition
    ) -> Verdict | Later[Verdict]:
        """Whether the writer's transaction is open and has the partition in it."""
        if not writer.transactional_id:
            return Verdict(error_code=ErrorCode.INVALID_REQUEST)
        return self.perform(
            writer.transactional_id,
            lambda shard, ticket: shard.verify_partition(writer, partition, ticket),
            _refused,
        )

    # Looking.

    def highest_stored_producer_id(self) -> int:
        """The highest producer id in our records, -1 if there is none; waits for the disk.

        For a first start on logs that another broker wrote: a transactional id may have a
        producer id that no partition has heard of.
        """
        highest = -1
        for partition in self._partitions.of_topic(self._topic):
            for _, stored in stored_records(partition.log):
                if not isinstance(stored, Record) or stored.key is None:
                    continue
                with suppress(ProtocolError):
                    record = decode_record(stored.key, stored.value)
                    if record is not None and record.transaction is not None:
                        known = record.transaction
                        highest = max(highest, known.producer_id, known.next_producer_id)
        return highest

    def list(self, request: ListTransactionsRequest) -> ListTransactionsResponse:
        """ListTransactions."""
        shards = self.active_shards()
        if isinstance(shards, ErrorCode):
            return ListTransactionsResponse(error_code=shards)
        matches = None
        if request.transactional_id_pattern:
            try:
                matches = Regex(request.transactional_id_pattern).matches
            except InvalidRegexError:
                return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
        wanted = TransactionFilter(
            state_titles=request.state_filters,
            producer_ids=request.producer_id_filters,
            longer_than_ms=request.duration_filter if request.duration_filter >= 0 else None,
            matches_id=matches,
        )
        now_ms = self.timestamp_ms()
        return ListTransactionsResponse(
            unknown_state_filters=wanted.unknown_titles,
            transaction_states=[each for shard in shards for each in shard.list(wanted, now_ms)],
        )

    # Markers.

    def _new_driver(self, partition: Partition) -> _Driver:
        driver: _Driver = ShardDriver(
            partition,
            TransactionShard(self._settings()),
            TRANSACTION_RECORDS,
            self._clock,
            self._wake_by,
            lambda effects: self._carry_out(driver, effects),
        )
        return driver

    def _carry_out(self, driver: _Driver, effects: Sequence[object]) -> None:
        for order in effects:
            assert isinstance(order, WriteMarkers)
            end = EndOfTransaction(
                order.producer_id,
                order.producer_epoch,
                order.committed,
                coordinator_epoch=driver.partition.leader_epoch,
                transaction_version=order.transaction_version,
            )
            orderer = _Ordered(driver, order, self._clock)
            for place in order.partitions:
                self._markers.write(place, end, orderer)


class _Ordered:
    """The order of a shard, for the one who carries it out."""

    __slots__ = ("_clock", "_driver", "_order")

    def __init__(self, driver: _Driver, order: WriteMarkers, clock: Clock) -> None:
        self._driver = driver
        self._order = order
        self._clock = clock

    def is_waiting(self) -> bool:
        """Not any more when the shard was given up: whoever loads it orders anew."""
        return self._driver.state is ShardState.ACTIVE

    def on_written(self, place: TopicPartition) -> None:
        """Tell the shard."""
        now_ms = self._clock.timestamp_ms()
        self._driver.tell(lambda shard: shard.marker_written(self._order, place, now_ms))


def _refused(error: ErrorCode) -> Verdict:
    return Verdict(error_code=error)
