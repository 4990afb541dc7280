"""Writing one record, as a plain request, so that a test has something to find."""

from kbroker.client.connection import Connection
from kbroker.records import NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, Record, build_batch
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)


def write_one(
    connection: Connection,
    topic: str,
    partition: int,
    *,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    timestamp_ms: int = 1_700_000_000_000,
) -> int:
    """Write a record, with sequence 0 if the producer has an id; gives the bytes of its batch."""
    batch = build_batch(
        [Record(offset=0, timestamp_ms=timestamp_ms, key=None, value=b"value")],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=NO_SEQUENCE if producer_id == NO_PRODUCER_ID else 0,
    )
    data = PartitionProduceData(index=partition, records=memoryview(batch))
    request = ProduceRequest(
        acks=-1,
        timeout_ms=30_000,
        topic_data=[TopicProduceData(name=topic, partition_data=[data])],
    )
    answer = connection.ask(request, ProduceResponse, version=12)
    result = answer.responses[0].partition_responses[0]
    assert result.error_code == 0, result
    return len(batch)
