"""A transactional producer without a client library: it sends what it is told, when it is told.

It keeps what a producer keeps, its id, its epoch and its sequences, and lets tests do what no
client would: send a request twice, send it late, leave one out. ``version`` is that of
transactions: in version 1 partitions are announced and the epoch stays, in version 2 the broker
adds them and every end gives a new epoch (KIP-890).
"""

import time
from collections import defaultdict
from collections.abc import Callable

from kbroker.client.connection import Connection
from kbroker.records import Record, build_batch
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.message import Request
from kbroker.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from kbroker.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from kbroker.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from kbroker.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kbroker.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)

# The versions of requests that clients of each version of transactions use.
PRODUCE = {1: 11, 2: 12}
END_TXN = {1: 4, 2: 5}
TXN_OFFSET_COMMIT = {1: 4, 2: 5}
INIT_PRODUCER_ID = 5
ADD_PARTITIONS_TO_TXN = 3
ADD_OFFSETS_TO_TXN = 4

_TRANSACTION = 1
_FIND_COORDINATOR_VERSION = 4
# What every client tries again: somebody is on the way, or still at work.
_TRY_AGAIN = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
)
_TIMEOUT_S = 20.0


class RawProducer:
    """One transactional id, and what its producer remembers."""

    def __init__(self, connection: Connection, transactional_id: str, *, version: int = 2) -> None:
        self.connection = connection
        self.transactional_id = transactional_id
        self.version = version
        self.producer_id = -1
        self.producer_epoch = -1
        self.sequences: dict[tuple[str, int], int] = defaultdict(int)

    # --- requests ------------------------------------------------------------------

    def init_request(self, timeout_ms: int = 60_000) -> InitProducerIdRequest:
        return InitProducerIdRequest(
            transactional_id=self.transactional_id, transaction_timeout_ms=timeout_ms
        )

    def produce_request(
        self, topic: str, *values: str, partition: int = 0, sequence: int | None = None
    ) -> ProduceRequest:
        """A batch with the next sequence, or with that one."""
        now_ms = int(time.time() * 1000)
        records = [Record(n, now_ms, None, value.encode()) for n, value in enumerate(values)]
        if sequence is None:
            sequence = self.sequences[topic, partition]
        batch = build_batch(
            records,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        data = PartitionProduceData(index=partition, records=bytes(batch))
        return ProduceRequest(
            transactional_id=self.transactional_id,
            acks=-1,
            timeout_ms=10_000,
            topic_data=[TopicProduceData(name=topic, partition_data=[data])],
        )

    def add_partition_request(self, topic: str, partition: int = 0) -> AddPartitionsToTxnRequest:
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.producer_epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[partition])],
        )

    def end_request(self, *, commit: bool) -> EndTxnRequest:
        return EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            committed=commit,
        )

    # --- conversations -------------------------------------------------------------

    def init(self, timeout_ms: int = 60_000) -> ErrorCode:
        """Find the coordinator and take the transactional id over."""

        def init_it() -> ErrorCode:
            answer = self.connection.ask(
                self.init_request(timeout_ms), InitProducerIdResponse, version=INIT_PRODUCER_ID
            )
            if answer.error_code == ErrorCode.NONE:
                self.remember(answer.producer_id, answer.producer_epoch)
            return ErrorCode(answer.error_code)

        find_coordinator(self.connection, self.transactional_id)
        return patiently(init_it)

    def remember(self, producer_id: int, producer_epoch: int) -> None:
        """Be this producer from now on; sequences begin anew with an epoch."""
        if (producer_id, producer_epoch) != (self.producer_id, self.producer_epoch):
            self.sequences.clear()
        self.producer_id, self.producer_epoch = producer_id, producer_epoch

    def send(self, topic: str, *values: str, partition: int = 0) -> ErrorCode:
        """Write a batch, and in version 1 announce its partition first."""
        if self.version == 1:
            error = self.add_partition(topic, partition)
            if error is not ErrorCode.NONE:
                return error
        error = self.ask(self.produce_request(topic, *values, partition=partition))
        if error is ErrorCode.NONE:
            self.sequences[topic, partition] += len(values)
        return error

    def add_partition(self, topic: str, partition: int = 0) -> ErrorCode:
        return self.ask(self.add_partition_request(topic, partition))

    def end(self, *, commit: bool) -> ErrorCode:
        """End the transaction, and take the epoch of the next one."""

        def end_it() -> ErrorCode:
            answer = self.connection.ask(
                self.end_request(commit=commit), EndTxnResponse, version=END_TXN[self.version]
            )
            if answer.error_code == ErrorCode.NONE and answer.producer_epoch >= 0:
                self.remember(answer.producer_id, answer.producer_epoch)
            return ErrorCode(answer.error_code)

        return patiently(end_it)

    def add_offsets(self, group_id: str) -> ErrorCode:
        return self.ask(
            AddOffsetsToTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=self.producer_id,
                producer_epoch=self.producer_epoch,
                group_id=group_id,
            )
        )

    def commit_offset(self, group_id: str, topic: str, offset: int) -> ErrorCode:
        """Commit the position in partition 0 of a topic inside the transaction."""
        if self.version == 1:
            error = self.add_offsets(group_id)
            if error is not ErrorCode.NONE:
                return error
        place = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        return self.ask(
            TxnOffsetCommitRequest(
                transactional_id=self.transactional_id,
                group_id=group_id,
                producer_id=self.producer_id,
                producer_epoch=self.producer_epoch,
                topics=[TxnOffsetCommitRequestTopic(name=topic, partitions=[place])],
            )
        )

    def ask(self, request: Request, *, patient: bool = True) -> ErrorCode:
        """The error code of the answer; a patient producer tries again as clients do."""
        return patiently(lambda: self._ask(request)) if patient else self._ask(request)

    def _ask(self, request: Request) -> ErrorCode:
        connection = self.connection
        match request:
            case ProduceRequest():
                version = PRODUCE[self.version]
                produced = connection.ask(request, ProduceResponse, version=version)
                return ErrorCode(produced.responses[0].partition_responses[0].error_code)
            case AddPartitionsToTxnRequest():
                version = ADD_PARTITIONS_TO_TXN
                added = connection.ask(request, AddPartitionsToTxnResponse, version=version)
                (topic,) = added.results_by_topic_v3_and_below
                return ErrorCode(topic.results_by_partition[0].partition_error_code)
            case AddOffsetsToTxnRequest():
                version = ADD_OFFSETS_TO_TXN
                offsets = connection.ask(request, AddOffsetsToTxnResponse, version=version)
                return ErrorCode(offsets.error_code)
            case TxnOffsetCommitRequest():
                version = TXN_OFFSET_COMMIT[self.version]
                committed = connection.ask(request, TxnOffsetCommitResponse, version=version)
                return ErrorCode(committed.topics[0].partitions[0].error_code)
            case EndTxnRequest():
                version = END_TXN[self.version]
                ended = connection.ask(request, EndTxnResponse, version=version)
                return ErrorCode(ended.error_code)
            case _:
                raise AssertionError(f"no producer sends {request}")


def find_coordinator(connection: Connection, key: str, *, of_groups: bool = False) -> None:
    """Wait until there is one; the first who asks makes the topic it needs."""
    request = FindCoordinatorRequest(
        key_type=0 if of_groups else _TRANSACTION, coordinator_keys=[key]
    )

    def find() -> ErrorCode:
        answer = connection.ask(request, FindCoordinatorResponse, version=_FIND_COORDINATOR_VERSION)
        return ErrorCode(answer.coordinators[0].error_code)

    assert patiently(find) is ErrorCode.NONE


def patiently(attempt: Callable[[], ErrorCode]) -> ErrorCode:
    """The first answer that is not "try again", or that one if nothing else comes."""
    deadline = time.monotonic() + _TIMEOUT_S
    while (error := attempt()) in _TRY_AGAIN and time.monotonic() < deadline:
        time.sleep(0.02)
    return error
