"""What was produced is consumed, on a real cluster."""

import pytest
from confluent_kafka import Producer as TransactionalProducer

from kbroker.client.consuming import Consumer, Start
from kbroker.client.errors import BrokerError
from kbroker.client.partitioning import partition_of
from kbroker.client.producing import Delivery, Producer
from kbroker.records import Compression, Record
from kbroker.wire import ErrorCode
from kbroker.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)

SAMPLES = [
    (b"key", b"value", (("name", b"\xff\x00"), ("empty", b""), ("null", None), ("name", b"2"))),
    (None, b"no key", ()),
    (b"tombstone", None, ()),
    (b"", b"", ()),
    (None, None, ()),
    (b"large", b"x" * 100_000, ()),
]


def consume_all(cluster, topic, **options) -> list[tuple[int, Record]]:
    options.setdefault("start", Start.earliest())
    consumer = Consumer(cluster, topic, **options)
    consumed = []
    while not consumer.at_end():
        consumed += consumer.poll()
    return consumed


def values(consumed) -> list[bytes | None]:
    return [each.record.value for each in consumed]


@pytest.mark.parametrize("compression", list(Compression))
def test_records_come_back_as_they_were_written(cluster, new_topic, compression):
    topic = new_topic()
    producer = Producer(cluster, topic, compression=compression)
    for number, (key, value, headers) in enumerate(SAMPLES):
        assert producer.send(key, value, headers, timestamp_ms=1_700_000_000_000 + number) == []

    assert producer.flush() == [Delivery(0, 0, len(SAMPLES))]
    assert [each.record for each in consume_all(cluster, topic)] == [
        Record(number, 1_700_000_000_000 + number, key, value, headers)
        for number, (key, value, headers) in enumerate(SAMPLES)
    ]


def test_keys_choose_partitions_and_keep_their_order(cluster, new_topic):
    topic = new_topic(partitions=5)
    producer = Producer(cluster, topic, batch_bytes=1000)
    for number in range(300):
        producer.send(b"key-%d" % (number % 17), b"%d" % number)
    producer.flush()

    consumed = consume_all(cluster, topic)
    assert sorted(map(int, values(consumed))) == list(range(300))
    for partition, record in consumed:
        assert partition == partition_of(record.key, 5)
    for key in {each.record.key for each in consumed}:
        own = [int(each.record.value) for each in consumed if each.record.key == key]
        assert own == sorted(own)


def test_records_without_a_key_stay_together_until_they_are_flushed(cluster, new_topic):
    topic = new_topic(partitions=3)
    producer = Producer(cluster, topic)
    for number in range(10):
        producer.send(None, b"%d" % number)

    assert [delivery.record_count for delivery in producer.flush()] == [10]


def test_a_batch_the_topic_finds_too_large_is_split(cluster, new_topic):
    topic = new_topic(max_message_bytes="2000")
    producer = Producer(cluster, topic)
    for number in range(50):
        producer.send(None, b"%03d" % number + b"." * 200)
    deliveries = producer.flush()
    producer.send(None, b"last")
    producer.flush()

    assert len(deliveries) > 1
    assert [value[:3] for value in values(consume_all(cluster, topic))] == [
        *(b"%03d" % number for number in range(50)),
        b"las",
    ]


def test_a_single_record_that_is_too_large_is_refused(cluster, new_topic):
    topic = new_topic(max_message_bytes="2000")
    producer = Producer(cluster, topic)
    producer.send(None, b"x" * 5000)

    with pytest.raises(BrokerError) as caught:
        producer.flush()
    assert caught.value.code is ErrorCode.MESSAGE_TOO_LARGE
    assert caught.value.subject == topic


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (Start.earliest(), [b"0", b"1", b"2", b"3"]),
        (Start.latest(), []),
        (Start.at_offset(3), [b"3"]),
        (Start.at_offset(4), []),
        (Start.at_timestamp(1_700_000_002_000), [b"2", b"3"]),
        (Start.at_timestamp(1_700_000_001_001), [b"2", b"3"]),
        (Start.at_timestamp(1_800_000_000_000), []),
    ],
)
def test_reading_begins_where_it_was_asked_to(cluster, new_topic, start, expected):
    topic = new_topic()
    producer = Producer(cluster, topic)
    for number in range(4):
        # One batch: the start lies inside it.
        producer.send(None, b"%d" % number, timestamp_ms=1_700_000_000_000 + 1000 * number)
    producer.flush()

    assert values(consume_all(cluster, topic, start=start)) == expected


def test_an_offset_outside_the_log_is_refused(cluster, new_topic):
    topic = new_topic()

    with pytest.raises(BrokerError, match="partition 0 has offsets 0 to 0, not 1"):
        Consumer(cluster, topic, start=Start.at_offset(1))


def test_records_that_are_gone_while_reading_are_passed_over(cluster, new_topic):
    topic = new_topic()
    producer = Producer(cluster, topic)
    for number in range(10):
        producer.send(None, b"%d" % number)
        producer.flush()
    consumer = Consumer(cluster, topic, start=Start.at_offset(0))
    partition = DeleteRecordsPartition(partition_index=0, offset=6)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=[partition])], timeout_ms=10_000
    )
    cluster.leader(topic, 0).ask(request, DeleteRecordsResponse)

    consumed = []
    while not consumer.at_end():
        consumed += consumer.poll()
    assert values(consumed) == [b"6", b"7", b"8", b"9"]


def test_only_the_partitions_that_were_named_are_read(cluster, new_topic):
    topic = new_topic(partitions=3)
    for partition in range(3):
        producer = Producer(cluster, topic, partition=partition)
        producer.send(b"same key", b"%d" % partition)
        producer.flush()

    assert values(consume_all(cluster, topic, partitions=[2])) == [b"2"]
    assert sorted(values(consume_all(cluster, topic, partitions=[0, 1]))) == [b"0", b"1"]
    assert sorted(values(consume_all(cluster, topic))) == [b"0", b"1", b"2"]


def test_a_reader_of_committed_data_sees_no_aborted_records(bootstrap, cluster, new_topic):
    topic = new_topic()
    writer = TransactionalProducer(
        {"bootstrap.servers": bootstrap, "transactional.id": topic, "linger.ms": 0}
    )
    writer.init_transactions(30)
    for number in range(4):
        writer.begin_transaction()
        writer.produce(topic, f"{number}".encode())
        writer.flush(30)
        if number % 2:
            writer.abort_transaction(60)
        else:
            writer.commit_transaction(60)

    assert values(consume_all(cluster, topic, read_committed=True)) == [b"0", b"2"]
    assert values(consume_all(cluster, topic)) == [b"0", b"1", b"2", b"3"]


def test_an_open_transaction_is_the_end_for_a_reader_of_committed_data(
    bootstrap, cluster, new_topic
):
    topic = new_topic()
    writer = TransactionalProducer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    writer.init_transactions(30)
    writer.begin_transaction()
    writer.produce(topic, b"open")
    writer.flush(30)

    assert values(consume_all(cluster, topic, read_committed=True)) == []
    assert values(consume_all(cluster, topic)) == [b"open"]
    writer.abort_transaction(60)


def test_a_topic_that_does_not_exist_is_refused_soon(cluster):
    with pytest.raises(BrokerError, match=r"nowhere: .* \(UNKNOWN_TOPIC_OR_PARTITION\)"):
        Consumer(cluster, "nowhere", start=Start.earliest())


def test_a_producer_waits_for_the_topic_that_the_broker_creates(cluster, new_topic):
    """Both clusters create missing topics by default: `auto.create.topics.enable`."""
    topic = new_topic() + "-auto"
    producer = Producer(cluster, topic)
    producer.send(None, b"first")
    producer.flush()

    assert values(consume_all(cluster, topic)) == [b"first"]
