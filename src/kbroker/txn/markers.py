"""WriteMarkers, the order to end a transaction on its partitions."""

from dataclasses import dataclass

from kbroker.model import TopicPartition


@dataclass(frozen=True, slots=True)
class WriteMarkers:
    """Write a marker to every one of ``partitions``, until it is there (T5).

    The shell reports each with `TransactionShard.marker_written`. To write a marker a second time
    does no harm. In version 2 the epoch is one above that of the data.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool
    partitions: frozenset[TopicPartition]
    transaction_version: int
