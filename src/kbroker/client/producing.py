"""Records to one topic, in batches, acknowledged by every replica in sync.

Nothing happens behind the caller's back: `send` collects, and what is collected leaves when a
batch is full or the caller says `flush`. Each flush sends one request to every leader concerned
and waits for all answers, so at most one batch per partition is on its way and order is kept.

A batch that may or may not have been written is sent again as it was. Where the broker hands out
producer ids it recognises such a batch by its sequence and writes it once; older brokers may write
it twice.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.client.errors import BrokerError, ClientError, raise_refusal
from kbroker.client.partitioning import partition_of
from kbroker.client.retrying import Retries
from kbroker.model import ZERO_UUID, Uuid
from kbroker.records import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    Compression,
    Header,
    Record,
    build_batch,
)
from kbroker.wire import ErrorCode
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

ACKS_ALL = -1
# Large enough to make batches cheap, a quarter of what brokers take by default.
DEFAULT_BATCH_BYTES = 256 * 1024
# A broker that creates missing topics answers UNKNOWN_TOPIC_OR_PARTITION until it is done.
_NEW_TOPIC_PATIENCE_S = 5.0
# The last version that names topics; later ones know them by id (KIP-516).
_LAST_VERSION_WITH_NAMES = 12
# What a record needs beside its key, value and headers, at the most and roughly.
_RECORD_OVERHEAD_BYTES = 24
_MAX_SEQUENCE = 2**31 - 1


class Delivery(NamedTuple):
    """Where a batch was written; -1 if the broker knew it from an earlier attempt."""

    partition: int
    base_offset: int
    record_count: int


@dataclass(slots=True, eq=False)
class _Batch:
    """Records of one partition with their place in its row of sequences."""

    partition: int
    records: list[Record]
    base_sequence: int

    def halves(self) -> "list[_Batch]":
        middle = len(self.records) // 2
        second_sequence = NO_SEQUENCE
        if self.base_sequence != NO_SEQUENCE:
            second_sequence = (self.base_sequence + middle) & _MAX_SEQUENCE
        return [
            _Batch(self.partition, _numbered(self.records[:middle]), self.base_sequence),
            _Batch(self.partition, _numbered(self.records[middle:]), second_sequence),
        ]


class Producer:
    """Writes to ``topic``; a broker may create it if it is configured to.

    Keys choose partitions as in the Java client; records without a key stay with one partition
    until it has been flushed, then go to another. ``partition`` overrides both. An error leaves
    the producer unusable: some records may have been written, others not.
    """

    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        *,
        partition: int | None = None,
        compression: Compression = Compression.NONE,
        batch_bytes: int = DEFAULT_BATCH_BYTES,
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._partition = partition
        self._compression = compression
        self._batch_bytes = batch_bytes
        self._collected: dict[int, list[Record]] = {}
        self._collected_bytes = 0
        self._sequences: dict[int, int] = {}
        self._sticky: int | None = None
        self._partition_count = cluster.retry(
            self._find_topic, unknown_topic_s=_NEW_TOPIC_PATIENCE_S
        )
        self._producer_id, self._producer_epoch = cluster.retry(self._find_producer_id)

    def send(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[Header] = (),
        *,
        timestamp_ms: int | None = None,
    ) -> list[Delivery]:
        """Add a record; gives what was written if that made a batch full, else nothing."""
        if timestamp_ms is None:
            timestamp_ms = time.time_ns() // 1_000_000
        records = self._collected.setdefault(self._choose(key), [])
        records.append(Record(len(records), timestamp_ms, key, value, tuple(headers)))
        self._collected_bytes += _RECORD_OVERHEAD_BYTES + len(key or b"") + len(value or b"")
        self._collected_bytes += sum(len(name) + len(data or b"") for name, data in headers)
        return self.flush() if self._collected_bytes >= self._batch_bytes else []

    def flush(self) -> list[Delivery]:
        """Write what was collected; BrokerError or ConnectionFailed if that is not possible."""
        batches = [self._seal(partition, rs) for partition, rs in self._collected.items()]
        self._collected = {}
        self._collected_bytes = 0
        self._sticky = None
        deliveries: list[Delivery] = []
        retries = Retries(self._cluster.timeout_s, unknown_topic_s=_NEW_TOPIC_PATIENCE_S)
        while batches:
            try:
                batches = self._deliver(batches, deliveries)
            except ClientError as error:
                self._cluster.recover(error, retries)
        return deliveries

    def _find_topic(self) -> int:
        topic = self._cluster.topic(self._topic, create=True)
        if self._partition is not None:
            self._cluster.partition(self._topic, self._partition)
        return len(topic.partitions)

    def _find_producer_id(self) -> tuple[int, int]:
        """A producer id of our own, or none where the broker does not hand them out."""
        connection = self._cluster.any_connection()
        if not connection.speaks(InitProducerIdRequest):
            return NO_PRODUCER_ID, NO_PRODUCER_EPOCH
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        response = connection.ask(request, InitProducerIdResponse)
        if response.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            return NO_PRODUCER_ID, NO_PRODUCER_EPOCH  # before 3.0 this was a right of its own
        raise_refusal(response.error_code, subject=self._topic)
        return response.producer_id, response.producer_epoch

    def _choose(self, key: bytes | None) -> int:
        if self._partition is not None:
            return self._partition
        if key is not None:
            return partition_of(key, self._partition_count)
        if self._sticky is None:
            self._sticky = random.randrange(self._partition_count)
        return self._sticky

    def _seal(self, partition: int, records: list[Record]) -> _Batch:
        """Give the records of a batch their sequences, which fix the order of batches."""
        if self._producer_id == NO_PRODUCER_ID:
            return _Batch(partition, records, NO_SEQUENCE)
        sequence = self._sequences.get(partition, 0)
        self._sequences[partition] = (sequence + len(records)) & _MAX_SEQUENCE
        return _Batch(partition, records, sequence)

    def _deliver(self, batches: list[_Batch], deliveries: list[Delivery]) -> list[_Batch]:
        """Send the first batch of each partition once; gives those that are still to be sent.

        ``batches`` shrinks by those that were written even if this raises for another one.
        """
        now: dict[int, _Batch] = {}
        for batch in batches:
            now.setdefault(batch.partition, batch)
        refused: BrokerError | None = None
        for answer in self._ask_leaders(now):
            batch = now[answer.index]
            place = batches.index(batch)
            code = answer.error_code
            if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                del batches[place]
                offset = answer.base_offset if code == ErrorCode.NONE else -1
                deliveries.append(Delivery(batch.partition, offset, len(batch.records)))
            elif code == ErrorCode.MESSAGE_TOO_LARGE and len(batch.records) > 1:
                batches[place : place + 1] = batch.halves()
            else:
                refused = BrokerError(code, _reason(answer), subject=self._topic)
        if refused is not None:
            raise refused
        return batches

    def _ask_leaders(self, batches: dict[int, _Batch]) -> list[PartitionProduceResponse]:
        """The answers about all partitions; requests to several leaders travel at one time."""
        topic_id = self._cluster.topic(self._topic).topic_id
        leaders = self._cluster.by_leader(self._topic, batches)
        for leader, partitions in leaders.items():
            self._send_to(leader, [batches[partition] for partition in partitions], topic_id)
        answers: list[PartitionProduceResponse] = []
        for leader in leaders:
            response = leader.receive()
            assert isinstance(response, ProduceResponse)
            answers += [part for topic in response.responses for part in topic.partition_responses]
        return answers

    def _send_to(self, leader: Connection, batches: list[_Batch], topic_id: Uuid) -> None:
        newest = _LAST_VERSION_WITH_NAMES if topic_id == ZERO_UUID else 32767
        parts = [
            PartitionProduceData(index=batch.partition, records=self._encode(batch))
            for batch in batches
        ]
        request = ProduceRequest(
            acks=ACKS_ALL,
            timeout_ms=max(1, int(self._cluster.timeout_s * 900)),
            topic_data=[
                TopicProduceData(name=self._topic, topic_id=topic_id, partition_data=parts)
            ],
        )
        leader.send(request, leader.version_of(ProduceRequest, newest=newest))

    def _encode(self, batch: _Batch) -> bytearray:
        return build_batch(
            batch.records,
            producer_id=self._producer_id,
            producer_epoch=self._producer_epoch,
            base_sequence=batch.base_sequence,
            compression=self._compression,
        )


def _numbered(records: list[Record]) -> list[Record]:
    """The same records with the offsets that a batch of their own needs."""
    return [
        Record(offset, record.timestamp_ms, record.key, record.value, record.headers)
        for offset, record in enumerate(records)
    ]


def _reason(answer: PartitionProduceResponse) -> str | None:
    """The broker's words about a refused batch: about one of its records if it says so."""
    for record_error in answer.record_errors:
        if record_error.batch_index_error_message:
            return record_error.batch_index_error_message
    return answer.error_message
