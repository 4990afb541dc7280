"""Fetch: what comes at once, what waits, and what is refused."""

import threading
import time

from kbroker.model import Uuid
from kbroker.records import parse_records, read_header, scan_batches
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from tests.broker.conversation import Conversation, batch, data_of


def values(records: object) -> list[bytes | None]:
    assert isinstance(records, bytes | bytearray | memoryview)
    return [
        record.value
        for position, header in scan_batches(records)
        for record in parse_records(records, header, position)
    ]


def test_what_was_produced_is_fetched(talk: Conversation, topic: str):
    talk.create_topic(topic)
    talk.produce(topic, batch(b"a", b"b"))
    talk.produce(topic, batch(b"c"))

    data = data_of(talk.fetch({(topic, 0): 0}))[topic, 0]

    assert values(data.records) == [b"a", b"b", b"c"]
    assert (data.high_watermark, data.last_stable_offset, data.log_start_offset) == (3, 3, 0)


def test_a_fetch_inside_a_batch_returns_the_whole_batch(talk: Conversation, topic: str):
    talk.create_topic(topic)
    talk.produce(topic, batch(b"a", b"b", b"c"))

    data = data_of(talk.fetch({(topic, 0): 1}))[topic, 0]

    assert values(data.records) == [b"a", b"b", b"c"]
    assert read_header(data.records).base_offset == 0


def test_at_least_one_batch_comes_however_small_the_limit(talk: Conversation, topic: str):
    talk.create_topic(topic, partitions=2)
    for partition in (0, 1):
        talk.produce(topic, batch(b"x" * 1000), partition=partition)
        talk.produce(topic, batch(b"y" * 1000), partition=partition)

    answer = data_of(talk.fetch({(topic, 0): 0, (topic, 1): 0}, max_bytes=10))

    assert [len(values(data.records)) for data in answer.values() if data.records] == [1]


def test_no_partition_is_answered_with_less_than_a_batch(talk: Conversation, topic: str):
    """Java's consumer gives up over bytes that hold no whole batch."""
    talk.create_topic(topic, partitions=2)
    for partition in (0, 1):
        talk.produce(topic, batch(b"x" * 1000), partition=partition)

    wanted = {(topic, 0): 0, (topic, 1): 0}
    answer = data_of(talk.fetch(wanted, partition_max_bytes=500))

    assert values(answer[topic, 0].records) == [b"x" * 1000]
    assert bytes(answer[topic, 1].records) == b""


def test_a_fetch_of_nothing_does_not_wait(talk: Conversation):
    began_at = time.monotonic()

    answer = talk.fetch({}, max_wait_ms=20_000)

    assert answer.responses == []
    assert time.monotonic() - began_at < 10


def test_an_offset_behind_the_end_is_out_of_range(talk: Conversation, topic: str):
    talk.create_topic(topic)
    talk.produce(topic, batch(b"a"))

    assert data_of(talk.fetch({(topic, 0): 1}))[topic, 0].error_code == ErrorCode.NONE
    assert (
        data_of(talk.fetch({(topic, 0): 2}))[topic, 0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    )


def test_unknown_topics_and_ids_have_their_own_errors(talk: Conversation, topic: str):
    topic_id = talk.create_topic(topic)
    talk.produce(topic, batch(b"a"))

    assert values(talk.fetch_by_id(topic_id, 0).records) == [b"a"]
    assert talk.fetch_by_id(Uuid(b"x" * 16), 0).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    missing = data_of(talk.fetch({("no-such-topic", 0): 0}))["no-such-topic", 0]
    assert missing.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_leader_epoch_that_is_not_ours_is_refused(talk: Conversation, topic: str):
    """R13: older epochs are fenced, newer ones unknown."""
    talk.create_topic(topic)
    talk.produce(topic, batch(b"a"))

    newer = data_of(talk.fetch({(topic, 0): 0}, current_leader_epoch=7))[topic, 0]

    assert newer.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_a_fetch_waits_until_something_is_produced(talk: Conversation, running: Broker, topic: str):
    talk.create_topic(topic)
    other = Conversation.with_broker(running)
    producer = threading.Timer(0.2, lambda: other.produce(topic, batch(b"late")))
    producer.start()

    data = data_of(talk.fetch({(topic, 0): 0}, max_wait_ms=20_000))[topic, 0]

    assert values(data.records) == [b"late"]
    producer.join()
    other.connection.close()


def test_a_fetch_waits_for_its_minimum_of_bytes(talk: Conversation, running: Broker, topic: str):
    talk.create_topic(topic)
    other = Conversation.with_broker(running)

    def produce_twice() -> None:
        other.produce(topic, batch(b"x" * 600))
        other.produce(topic, batch(b"y" * 600))

    producer = threading.Timer(0.2, produce_twice)
    producer.start()

    data = data_of(talk.fetch({(topic, 0): 0}, max_wait_ms=20_000, min_bytes=1000))[topic, 0]

    assert len(values(data.records)) == 2
    producer.join()
    other.connection.close()


def test_a_fetch_is_answered_in_time_without_data(talk: Conversation, topic: str):
    talk.create_topic(topic)
    began_at = time.monotonic()

    data = data_of(talk.fetch({(topic, 0): 0}, max_wait_ms=100))[topic, 0]

    assert data.records in (b"", None)
    assert time.monotonic() - began_at >= 0.09


def test_whoever_says_to_be_a_replica_is_not_believed(talk: Conversation, topic: str):
    """CVE-2018-1288: a client with a replica id must not move a high watermark."""
    talk.create_topic(topic)
    talk.produce(topic, batch(b"a"))

    answer = talk.fetch({(topic, 0): 0}, replica_id=2)

    [partition] = answer.responses[0].partitions
    assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert not partition.records


def test_a_broker_that_stops_lets_long_polls_go():
    with Broker() as broker:
        talk = Conversation.with_broker(broker)
        talk.create_topic("idle")
        request = talk.fetch_request({("idle", 0): 0}, max_wait_ms=300_000)
        talk.connection.send(request, 12)
        time.sleep(0.3)  # long enough for the poll to begin
        began_at = time.monotonic()
    answer = talk.connection.receive()

    assert time.monotonic() - began_at < 60, "it did not wait for the poll"
    assert answer.error_code == ErrorCode.NONE
    talk.connection.close()
