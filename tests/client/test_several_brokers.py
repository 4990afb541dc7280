"""Partitions with different leaders, on the mock cluster inside librdkafka.

It is a third party's broker: it knows ApiVersions up to version 2 only, so it also is a real case
of the way back to version 0 (KIP-511).
"""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer as MockOwner

from kbroker.client.cluster import Cluster
from kbroker.client.consuming import Consumer, Start
from kbroker.client.producing import Producer


@pytest.fixture(scope="module")
def mock_cluster() -> Iterator[str]:
    """Three brokers that live as long as the client which owns them."""
    owner = MockOwner({"test.mock.num.brokers": 3, "log_level": 0})
    brokers = owner.list_topics(timeout=30).brokers.values()
    yield ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    del owner


@pytest.mark.parametrize("topic", ["several-a", "several-b", "several-c"])
def test_records_go_to_all_leaders_and_come_back(mock_cluster, topic):
    with Cluster(mock_cluster) as cluster:
        producer = Producer(cluster, topic, batch_bytes=2000)
        for number in range(400):
            producer.send(b"%d" % number, b"value %d" % number)
        producer.flush()
        consumer = Consumer(cluster, topic, start=Start.earliest())
        consumed = []
        while not consumer.at_end():
            consumed += consumer.poll()

        assert len(consumer.ends) > 1
        assert sorted(int(each.record.key) for each in consumed) == list(range(400))


def test_the_second_address_serves_as_well_as_the_first(mock_cluster):
    addresses = mock_cluster.split(",")
    metadata = []
    for address in (addresses[0], addresses[2]):
        with Cluster(address) as cluster:
            metadata.append(cluster.metadata())

    assert len(metadata[0].brokers) == 3
    assert metadata[0].brokers == metadata[1].brokers
