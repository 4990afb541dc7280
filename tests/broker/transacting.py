"""A transactional producer that sends what the tests tell it to, right or wrong."""

import time
from collections.abc import Callable

from kbroker.broker.coordinator import partition_of_key
from kbroker.client.connection import Connection
from kbroker.records import Record, build_batch, iterate_records, scan_batches
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from kbroker.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    ProducerState,
    TopicRequest,
)
from kbroker.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from kbroker.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from kbroker.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.broker.conversation import TIMESTAMP_MS, Conversation, data_of

# Produce of version 11 belongs to version 1 of transactions, 12 to version 2.
V1, V2 = 11, 12
STATE_PARTITIONS = 50


class Transactor:
    """One producer: its transactional id, and what it was given."""

    def __init__(
        self,
        connection: Connection,
        transactional_id: str = "x",
        *,
        is_v2: bool = True,
        topic: str = "t",
    ) -> None:
        self.connection = connection
        self.transactional_id = transactional_id
        self.is_v2 = is_v2
        self.topic = topic
        self.producer_id = -1
        self.producer_epoch = -1
        self.sequences: dict[tuple[str, int], int] = {}

    def init(self) -> ErrorCode:
        request = FindCoordinatorRequest(key_type=1, coordinator_keys=[self.transactional_id])
        found = self.connection.ask(request, FindCoordinatorResponse, version=4)
        assert found.coordinators[0].error_code == ErrorCode.NONE
        ask = InitProducerIdRequest(
            transactional_id=self.transactional_id, transaction_timeout_ms=60_000
        )
        answer = self.connection.ask(ask, InitProducerIdResponse, version=4)
        if answer.error_code == ErrorCode.NONE:
            self.producer_id, self.producer_epoch = answer.producer_id, answer.producer_epoch
            self.sequences.clear()
        return ErrorCode(answer.error_code)

    def add(self, *partitions: int) -> ErrorCode:
        """AddPartitionsToTxn, as clients of version 1 do."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.producer_epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=self.topic, partitions=list(partitions))
            ],
        )
        answer = self.connection.ask(request, AddPartitionsToTxnResponse, version=3)
        results = answer.results_by_topic_v3_and_below[0].results_by_partition
        return ErrorCode(results[0].partition_error_code)

    def batch(self, partition: int, *values: bytes, sequence: int | None = None) -> bytearray:
        """The next batch for a partition."""
        if sequence is None:
            sequence = self.sequences.get((self.topic, partition), 0)
            self.sequences[self.topic, partition] = sequence + len(values)
        return build_batch(
            [Record(number, TIMESTAMP_MS, b"k", value) for number, value in enumerate(values)],
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=sequence,
            is_transactional=True,
        )

    def send(
        self, batches: dict[int, bytearray], *, version: int | None = None
    ) -> list[PartitionProduceResponse]:
        request = self.produce_request(batches)
        if version is None:
            version = V2 if self.is_v2 else V1
        answer = self.connection.ask(request, ProduceResponse, version=version)
        return answer.responses[0].partition_responses

    def produce_request(self, batches: dict[int, bytearray]) -> ProduceRequest:
        return ProduceRequest(
            transactional_id=self.transactional_id,
            acks=-1,
            timeout_ms=10_000,
            topic_data=[
                TopicProduceData(
                    name=self.topic,
                    partition_data=[
                        PartitionProduceData(index=index, records=data)
                        for index, data in batches.items()
                    ],
                )
            ],
        )

    def write(self, *values: bytes, partition: int = 0, sequence: int | None = None) -> ErrorCode:
        if not self.is_v2 and sequence is None:
            assert self.add(partition) is ErrorCode.NONE
        batch = self.batch(partition, *values, sequence=sequence)
        (answer,) = self.send({partition: batch})
        return ErrorCode(answer.error_code)

    def end_request(self, *, commit: bool) -> EndTxnRequest:
        return EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            committed=commit,
        )

    def end(self, *, commit: bool = True) -> ErrorCode:
        request = self.end_request(commit=commit)
        answer = self.connection.ask(request, EndTxnResponse, version=5 if self.is_v2 else 3)
        if answer.error_code == ErrorCode.NONE and self.is_v2:
            self.producer_id, self.producer_epoch = answer.producer_id, answer.producer_epoch
            self.sequences.clear()
        return ErrorCode(answer.error_code)


def transactor(talk: Conversation, name: str = "x", *, is_v2: bool = True) -> Transactor:
    producer = Transactor(talk.connection, name, is_v2=is_v2)
    assert producer.init() is ErrorCode.NONE
    return producer


def until(condition: Callable[[], bool]) -> None:
    """Wait for what follows an answer: markers are written behind it."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def state_of(talk: Conversation, name: str = "x") -> TransactionState:
    request = DescribeTransactionsRequest(transactional_ids=[name])
    answer = talk.connection.ask(request, DescribeTransactionsResponse, version=0)
    return answer.transaction_states[0]


def until_complete(talk: Conversation, name: str = "x") -> None:
    until(lambda: state_of(talk, name).transaction_state.startswith("Complete"))


def read(talk: Conversation, *, committed: bool, topic: str = "t", partition: int = 0) -> list[str]:
    """The values that a consumer would see, with what it skips left out as consumers do."""
    values: list[str] = []
    offset = 0
    while True:
        response = talk.fetch({(topic, partition): offset}, isolation_level=int(committed))
        data = data_of(response)[topic, partition]
        assert data.error_code == ErrorCode.NONE
        records = bytes(data.records or b"")
        if not records:
            return values
        aborted = {
            (each.producer_id, each.first_offset) for each in data.aborted_transactions or ()
        }
        for position, header in scan_batches(records):
            offset = header.next_offset
            skips = committed and any(
                header.producer_id == producer_id
                and first_offset <= header.base_offset
                and header.is_transactional
                and _is_aborted(records, header.producer_id, header.base_offset)
                for producer_id, first_offset in aborted
            )
            if not header.is_control and not skips:
                values += [
                    (each.value or b"").decode()
                    for each in iterate_records(records, header, position)
                ]


def _is_aborted(records: bytes, producer_id: int, offset: int) -> bool:
    """Whether the next marker of a producer behind ``offset`` is one of an abort."""
    for position, header in scan_batches(records):
        is_next = header.base_offset > offset and header.producer_id == producer_id
        if is_next and header.is_control:
            (marker,) = iterate_records(records, header, position)
            return marker.key == b"\x00\x00\x00\x00"
    return False


def producers(talk: Conversation, topic: str = "t", partition: int = 0) -> list[ProducerState]:
    """DescribeProducers of one partition."""
    request = DescribeProducersRequest(
        topics=[TopicRequest(name=topic, partition_indexes=[partition])]
    )
    answer = talk.connection.ask(request, DescribeProducersResponse, version=0)
    return answer.topics[0].partitions[0].active_producers


def state_partition(transactional_id: str) -> str:
    """The directory of the partition that a transactional id lives in."""
    return f"__transaction_state-{partition_of_key(transactional_id, STATE_PARTITIONS)}"
