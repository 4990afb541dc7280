"""Scenarios of records: what a client sends is what it reads."""

import time

from compat_tests.client import COMPRESSIONS, CREATE_TIME, LOG_APPEND_TIME, Sent
from compat_tests.scenarios.stage import EARLIER_MS, Stage, as_received, numbered


def produce(stage: Stage) -> None:
    """Send 50 records with acks=all, then 50 with acks=1: offsets are 0 to 49, then 50 to 99."""
    topic = stage.new_topic()

    assert stage.client.produce(topic, numbered(50)) == list(range(50))
    assert stage.client.produce(topic, numbered(50), acks="1") == list(range(50, 100))
    assert stage.helper.watermarks(topic) == (0, 100)


def produce_without_acks(stage: Stage) -> None:
    """Send 50 records with acks=0 and close: all 50 arrive."""
    topic = stage.new_topic()
    stage.client.produce(topic, numbered(50), acks="0")

    assert stage.client.consume(topic, 50) == as_received(numbered(50))


def produce_to_a_new_topic(stage: Stage) -> None:
    """Send to a topic that is not there: it is created, and the records are in it."""
    stage.client.produce(stage.name, numbered(5))

    assert stage.helper.consume(stage.name, 5) == as_received(numbered(5))


def consume(stage: Stage) -> None:
    """Fill 3 partitions with 20 records each: each is read back by itself, in order, complete."""
    topic = stage.new_topic(partitions=3)
    for partition in range(3):
        stage.client.produce(topic, numbered(20, partition=partition))

    for partition in range(3):
        received = stage.client.consume(topic, 20, partition=partition)
        assert received == as_received(numbered(20, partition=partition))


def nulls(stage: Stage) -> None:
    """Null and empty keys and values come back as what they were."""
    topic = stage.new_topic()
    records = [Sent(b"value", None), Sent(None, b"key"), Sent(b"", b"key"), Sent(b"value", b"")]
    stage.client.produce(topic, records)

    assert stage.client.consume(topic, 4) == as_received(records)


def headers(stage: Stage) -> None:
    """Headers keep their order, their duplicates, empty values and bytes beyond ASCII."""
    topic = stage.new_topic()
    given = (("trace", b"1"), ("empty", b""), ("trace", b"2"), ("\u00fc", b"\x00\xff"))
    records = [Sent(b"with", headers=given), Sent(b"without")]
    stage.client.produce(topic, records)

    assert stage.client.consume(topic, 2) == as_received(records)


def null_header(stage: Stage) -> None:
    """A header without a value, written by librdkafka, is read as null and not as empty."""
    topic = stage.new_topic()
    records = [Sent(b"with", headers=(("null", None), ("empty", b"")))]
    stage.helper.produce(topic, records)

    assert stage.client.consume(topic, 1) == as_received(records)


def create_time(stage: Stage) -> None:
    """Timestamps given by the producer come back as they were."""
    topic = stage.new_topic()
    stage.client.produce(topic, [Sent(b"a", timestamp_ms=EARLIER_MS + n) for n in range(3)])

    received = stage.client.consume(topic, 3)
    assert [record.timestamp_ms - EARLIER_MS for record in received] == [0, 1, 2]
    assert {record.timestamp_type for record in received} <= {CREATE_TIME, None}


def log_append_time(stage: Stage) -> None:
    """In a topic with LogAppendTime the broker's clock replaces timestamps of long ago."""
    topic = stage.new_topic(message_timestamp_type="LogAppendTime")
    before_ms = int(time.time() * 1000)
    stage.client.produce(topic, [Sent(b"a", timestamp_ms=EARLIER_MS)] * 3)

    received = stage.client.consume(topic, 3)
    after_ms = int(time.time() * 1000)
    assert [record.value for record in received] == [b"a"] * 3
    assert {record.timestamp_type for record in received} <= {LOG_APPEND_TIME, None}
    assert all(before_ms - 1 <= record.timestamp_ms <= after_ms for record in received)


def large(stage: Stage) -> None:
    """A record of 10 MB passes where the topic allows it, and a small one behind it."""
    topic = stage.new_topic(max_message_bytes="12000000")
    records = [Sent(bytes(range(256)) * 40_960), Sent(b"small")]
    stage.client.produce(topic, records)

    assert stage.client.consume(topic, 2) == as_received(records)


def many_partitions(stage: Stage) -> None:
    """One producer sends 5 records to each of 32 partitions: none gets those of another."""
    topic = stage.new_topic(partitions=32)
    records = [sent for partition in range(32) for sent in numbered(5, partition=partition)]
    stage.client.produce(topic, records)

    for partition in (0, 15, 31):
        received = stage.client.consume(topic, 5, partition=partition)
        assert received == as_received(numbered(5, partition=partition))
    assert {stage.helper.watermarks(topic, partition) for partition in range(32)} == {(0, 5)}


def idempotence(stage: Stage) -> None:
    """An idempotent producer sends 200 records: each lies in the log once, with a producer id."""
    topic = stage.new_topic()

    assert stage.client.produce(topic, numbered(200), idempotent=True) == list(range(200))
    assert stage.client.consume(topic, 200) == as_received(numbered(200))
    batches = stage.batches(topic)
    assert len({(batch.producer_id, batch.producer_epoch) for batch in batches}) == 1
    assert batches[0].producer_id >= 0
    # Each batch goes on where the one before it stopped, from 0 on.
    assert [batch.base_sequence for batch in batches] == [batch.base_offset for batch in batches]


def _compressed(stage: Stage, codec: str) -> None:
    topic = stage.new_topic()
    stage.client.produce(topic, numbered(300), compression=codec)

    assert stage.client.consume(topic, 300) == as_received(numbered(300))
    [found] = {batch.compression for batch in stage.batches(topic)}
    assert COMPRESSIONS[found] == codec


def gzip(stage: Stage) -> None:
    """300 records compressed with gzip lie so on disk and are read back."""
    _compressed(stage, "gzip")


def snappy(stage: Stage) -> None:
    """300 records compressed with snappy lie so on disk and are read back."""
    _compressed(stage, "snappy")


def lz4(stage: Stage) -> None:
    """300 records compressed with lz4 lie so on disk and are read back."""
    _compressed(stage, "lz4")


def zstd(stage: Stage) -> None:
    """300 records compressed with zstd lie so on disk and are read back."""
    _compressed(stage, "zstd")
