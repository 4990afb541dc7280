"""What lies in a log, batch by batch, on a real cluster."""

import pytest
from confluent_kafka import Producer as TransactionalProducer

from kbroker.client.batches import read_batches
from kbroker.client.errors import BrokerError
from kbroker.client.producing import Producer
from kbroker.wire import ErrorCode


def write_batches(cluster, topic, *sizes):
    """Batches with as many records as ``sizes`` say, one after the other."""
    producer = Producer(cluster, topic)
    for size in sizes:
        for number in range(size):
            producer.send(b"key", b"%d" % number)
        producer.flush()


def offsets(batches):
    return [list(batch.offsets) for batch in batches]


def test_batches_that_reach_into_the_range_come_whole(cluster, new_topic):
    topic = new_topic()
    write_batches(cluster, topic, 3, 2, 4)

    assert offsets(read_batches(cluster, topic, 0, first=0, end=9)) == [
        [0, 1, 2],
        [3, 4],
        [5, 6, 7, 8],
    ]
    assert offsets(read_batches(cluster, topic, 0, first=1, end=4)) == [[0, 1, 2], [3, 4]]
    assert offsets(read_batches(cluster, topic, 0, first=3, end=3)) == []


def test_more_than_one_fetch_can_carry_is_read_in_several(cluster, new_topic):
    topic = new_topic()
    producer = Producer(cluster, topic)
    for _ in range(5):
        producer.send(b"key", bytes(700_000))
        producer.flush()

    assert offsets(read_batches(cluster, topic, 0, first=0, end=5)) == [[n] for n in range(5)]


def test_reading_ends_where_the_log_does(cluster, new_topic):
    topic = new_topic()
    write_batches(cluster, topic, 2)

    assert offsets(read_batches(cluster, topic, 0, first=0, end=100)) == [[0, 1]]


def test_an_offset_that_is_not_in_the_log_is_refused(cluster, new_topic):
    topic = new_topic()

    with pytest.raises(BrokerError) as raised:
        list(read_batches(cluster, topic, 0, first=5, end=9))
    assert raised.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_markers_and_aborted_records_are_seen(cluster, new_topic, bootstrap):
    topic = new_topic()
    producer = TransactionalProducer({"bootstrap.servers": bootstrap, "transactional.id": topic})
    producer.init_transactions()
    for value, end in ((b"a", producer.abort_transaction), (b"c", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush()
        end()

    found = list(read_batches(cluster, topic, 0, first=0, end=4))
    assert [(batch.header.is_control, batch.is_aborted) for batch in found] == [
        (False, True),
        (True, False),
        (False, False),
        (True, False),
    ]
