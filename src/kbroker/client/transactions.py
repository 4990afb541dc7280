"""List, describe and abort transactions.

A transactional id is looked after by its coordinator; what a producer has open on a partition, the
leader of the partition knows. When the two disagree a transaction *hangs*: readers of committed
data wait at its first record, and no coordinator will ever end it. Then the leader is told to write
a marker that aborts it (KIP-664).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kbroker.client.cluster import TRANSACTION_KEY, Cluster
from kbroker.client.connection import Connection
from kbroker.client.errors import BadAnswer, BrokerError, raise_refusal
from kbroker.model import TopicPartition
from kbroker.wire import ErrorCode
from kbroker.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from kbroker.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from kbroker.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from kbroker.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

NO_OFFSET = -1
# A producer that never had a marker: no coordinator is older than this one.
_FIRST_COORDINATOR_EPOCH = 0


class ListedTransaction(NamedTuple):
    """What a list says about a transactional id."""

    transactional_id: str
    coordinator_id: int
    producer_id: int
    state: str


@dataclass(frozen=True, slots=True)
class DescribedTransaction:
    """A transactional id as its coordinator sees it; the start is -1 before the first one."""

    transactional_id: str
    coordinator_id: int
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    start_timestamp_ms: int
    partitions: tuple[TopicPartition, ...]


class ActiveProducer(NamedTuple):
    """A producer as the leader of a partition knows it; -1 for what it does not have."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    start_offset: int


def list_transactions(
    cluster: Cluster,
    *,
    states: Sequence[str] = (),
    producer_ids: Sequence[int] = (),
    longer_than_ms: int = -1,
    pattern: str | None = None,
) -> list[ListedTransaction]:
    """The transactional ids of all coordinators, sorted; with filters, only those that pass."""
    request = ListTransactionsRequest(
        state_filters=list(states),
        producer_id_filters=list(producer_ids),
        duration_filter=longer_than_ms,
        transactional_id_pattern=pattern,
    )

    def attempt() -> list[ListedTransaction]:
        found = []
        for node_id, connection in cluster.brokers().items():
            response = connection.ask(request, ListTransactionsResponse)
            raise_refusal(response.error_code, subject=str(connection.address))
            found += [
                ListedTransaction(
                    each.transactional_id, node_id, each.producer_id, each.transaction_state
                )
                for each in response.transaction_states
            ]
        return sorted(found)

    return cluster.retry(attempt)


def describe_transaction(cluster: Cluster, transactional_id: str) -> DescribedTransaction:
    """One transactional id; TRANSACTIONAL_ID_NOT_FOUND if there is no such id."""

    def attempt() -> DescribedTransaction:
        coordinator = cluster.coordinator(transactional_id, key_type=TRANSACTION_KEY)
        request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
        response = coordinator.connection.ask(request, DescribeTransactionsResponse)
        if len(response.transaction_states) != 1:
            raise BadAnswer(f"{coordinator.connection.address} did not answer about one id")
        (state,) = response.transaction_states
        raise_refusal(state.error_code, subject=transactional_id)
        return DescribedTransaction(
            transactional_id=transactional_id,
            coordinator_id=coordinator.node_id,
            producer_id=state.producer_id,
            producer_epoch=state.producer_epoch,
            state=state.transaction_state,
            timeout_ms=state.transaction_timeout_ms,
            start_timestamp_ms=state.transaction_start_time_ms,
            partitions=tuple(
                sorted(
                    TopicPartition(topic.topic, number)
                    for topic in state.topics
                    for number in topic.partitions
                )
            ),
        )

    return cluster.retry(attempt)


def active_producers(cluster: Cluster, place: TopicPartition) -> list[ActiveProducer]:
    """The producers that the leader of a partition knows, sorted by id."""

    def attempt() -> list[ActiveProducer]:
        connection = cluster.leader(*place)
        topic = TopicRequest(name=place.topic, partition_indexes=[place.partition])
        request = DescribeProducersRequest(topics=[topic])
        response = connection.ask(request, DescribeProducersResponse)
        for answer in response.topics:
            for partition in answer.partitions:
                raise_refusal(partition.error_code, partition.error_message, subject=str(place))
                return sorted(
                    ActiveProducer(
                        each.producer_id,
                        each.producer_epoch,
                        each.coordinator_epoch,
                        each.last_sequence,
                        each.last_timestamp,
                        each.current_txn_start_offset,
                    )
                    for each in partition.active_producers
                )
        raise BadAnswer(f"{connection.address} did not answer about {place}")

    return cluster.retry(attempt)


def abort_transaction(cluster: Cluster, place: TopicPartition, producer: ActiveProducer) -> None:
    """Abort what a producer has open on a partition, whatever its coordinator thinks of it."""
    marker = WritableTxnMarker(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        transaction_result=False,
        coordinator_epoch=max(producer.coordinator_epoch, _FIRST_COORDINATOR_EPOCH),
        topics=[WritableTxnMarkerTopic(name=place.topic, partition_indexes=[place.partition])],
    )

    def attempt() -> None:
        connection = cluster.leader(*place)
        response = connection.ask(WriteTxnMarkersRequest(markers=[marker]), WriteTxnMarkersResponse)
        raise_refusal(_the_only_code(response, connection), subject=str(place))

    cluster.retry(attempt)


def find_open_transaction(
    cluster: Cluster,
    place: TopicPartition,
    *,
    start_offset: int | None = None,
    producer_id: int | None = None,
) -> ActiveProducer:
    """Who has a transaction open on a partition, from an offset on or under a producer id.

    INVALID_TXN_STATE if nobody has.
    """
    for producer in active_producers(cluster, place):
        if producer.start_offset == NO_OFFSET:
            continue
        if start_offset in (None, producer.start_offset) and producer_id in (
            None,
            producer.producer_id,
        ):
            return producer
    wanted = f"from offset {start_offset}" if producer_id is None else f"of producer {producer_id}"
    message = f"there is no open transaction {wanted}"
    raise BrokerError(ErrorCode.INVALID_TXN_STATE, message, subject=str(place))


def _the_only_code(response: WriteTxnMarkersResponse, connection: Connection) -> int:
    for marker in response.markers:
        for topic in marker.topics:
            for partition in topic.partitions:
                return partition.error_code
    raise BadAnswer(f"{connection.address} did not answer about the marker")
