"""The records of __transaction_state: keys and values to bytes and back, exactly as Kafka has them.

A key and a value start with two bytes each that name their version. Version 1 of the value has
tagged fields; Kafka writes it once ``transaction.version`` is 1 or more, and so do we.

Whoever appends a record also replays it: see `TransactionShard.replay`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from struct import Struct
from typing import Final

from kbroker.model import TopicPartition
from kbroker.txn.states import TransactionState
from kbroker.txn.transaction import NO_PARTITIONS, Transaction
from kbroker.wire import Buffer, ProtocolError
from kbroker.wire.messages.transaction_log_record import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)

_PREFIX: Final = Struct(">h")
_KEY_VERSION: Final = 0
_KEY_PREFIX: Final = _PREFIX.pack(_KEY_VERSION)
# From this one on there are tagged fields.
_TAGGED_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class TransactionRecord:
    """A transactional id and what is known of it from now on; nothing, if it is forgotten."""

    transactional_id: str
    transaction: Transaction | None
    value_version: int = _TAGGED_VERSION


def value_version(transaction_version: int) -> int:
    """The version of values that a cluster with this ``transaction.version`` writes."""
    return _TAGGED_VERSION if transaction_version >= 1 else 0


def encode_record(record: TransactionRecord) -> tuple[bytes, bytes | None]:
    """The key and the value of the record batch that holds ``record``."""
    key = TransactionLogKey(transactional_id=record.transactional_id)
    key_bytes = _KEY_PREFIX + key.encode_bytes(_KEY_VERSION)
    transaction = record.transaction
    if transaction is None:
        return key_bytes, None
    version = record.value_version
    value = TransactionLogValue(
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=transaction.state,
        transaction_partitions=_by_topic(transaction),
        transaction_last_update_timestamp_ms=transaction.update_timestamp_ms,
        transaction_start_timestamp_ms=transaction.start_timestamp_ms,
    )
    if version >= _TAGGED_VERSION:
        value.previous_producer_id = transaction.previous_producer_id
        value.next_producer_id = transaction.next_producer_id
        value.client_transaction_version = transaction.client_version
    return key_bytes, _PREFIX.pack(version) + value.encode_bytes(version)


def decode_record(key: Buffer, value: Buffer | None) -> TransactionRecord | None:
    """What stands in these bytes, or None if this broker knows no such type of record.

    ProtocolError if the bytes are no such record.
    """
    if _prefix(key) != _KEY_VERSION:
        return None
    decoded_key = TransactionLogKey.decode(key, _KEY_VERSION, _PREFIX.size)
    transactional_id = decoded_key.transactional_id
    if value is None:
        return TransactionRecord(transactional_id, None)
    version = _prefix(value)
    decoded = TransactionLogValue.decode(value, version, _PREFIX.size)
    try:
        state = TransactionState(decoded.transaction_status)
    except ValueError:
        raise ProtocolError(f"a transaction in state {decoded.transaction_status}") from None
    transaction = Transaction(
        producer_id=decoded.producer_id,
        producer_epoch=decoded.producer_epoch,
        timeout_ms=decoded.transaction_timeout_ms,
        update_timestamp_ms=decoded.transaction_last_update_timestamp_ms,
        state=state,
        partitions=_all_of(decoded.transaction_partitions or ()),
        start_timestamp_ms=decoded.transaction_start_timestamp_ms,
        previous_producer_id=decoded.previous_producer_id,
        next_producer_id=decoded.next_producer_id,
        client_version=decoded.client_transaction_version,
    )
    return TransactionRecord(transactional_id, transaction, version)


def _prefix(data: Buffer) -> int:
    if len(data) < _PREFIX.size:
        raise ProtocolError("a record of a transaction is shorter than its first number")
    (number,) = _PREFIX.unpack_from(data)
    return int(number)


def _by_topic(transaction: Transaction) -> list[PartitionsSchema] | None:
    """The partitions as they are written; none at all before the first transaction."""
    if transaction.state is TransactionState.EMPTY:
        return None
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(transaction.partitions):
        topics.setdefault(topic, []).append(partition)
    return [PartitionsSchema(topic=name, partition_ids=ids) for name, ids in topics.items()]


def _all_of(topics: Iterable[PartitionsSchema]) -> frozenset[TopicPartition]:
    found = frozenset(
        TopicPartition(topic.topic, partition)
        for topic in topics
        for partition in topic.partition_ids
    )
    return found or NO_PARTITIONS
