"""What must hold for records, whichever client sends and reads them."""

import struct
import time
from collections.abc import Sequence

import pytest

from compat_tests.broker_process import BrokerProcess
from compat_tests.client import (
    BEGINNING,
    COMPRESSIONS,
    CREATE_TIME,
    LOG_APPEND_TIME,
    Admin,
    Client,
    Received,
    Sent,
)
from compat_tests.confluent_kafka.adapter import ConfluentClient

# A moment long before every test: nobody's clock comes near it.
EARLIER_MS = 1_600_000_000_000


def numbered(count: int, *, partition: int = 0) -> list[Sent]:
    """Records that can be told apart, and that compression finds something in."""
    return [Sent(b"value %06d " % n * 4, b"key %d" % n, partition=partition) for n in range(count)]


def as_received(records: Sequence[Sent], *, first_offset: int = 0) -> list[Received]:
    """What a consumer must see of ``records``."""
    return [
        Received(offset, sent.value, sent.key, sent.headers, partition=sent.partition)
        for offset, sent in enumerate(records, first_offset)
    ]


def batches(log: bytes) -> list[tuple[int, int, int]]:
    """First offset, last offset and attributes of every batch in a partition's log."""
    found = []
    position = 0
    while position < len(log):
        base_offset, size = struct.unpack_from(">qi", log, position)
        attributes, last_offset_delta = struct.unpack_from(">hi", log, position + 21)
        found.append((base_offset, base_offset + last_offset_delta, attributes))
        position += 12 + size
    return found


class RecordsContract:
    """Produce with the client, consume with the client, and look at what lies on disk."""

    @pytest.mark.parametrize("compression", COMPRESSIONS)
    def test_records_come_back_in_every_compression(
        self, client: Client, broker: BrokerProcess, topic: str, compression: str
    ):
        records = numbered(300)
        client.produce(topic, records, compression=compression)

        assert client.consume(topic, 300) == as_received(records)
        [codec] = {attributes & 7 for _, _, attributes in batches(broker.log_bytes(topic))}
        assert COMPRESSIONS[codec] == compression

    @pytest.mark.parametrize("acks", ["0", "1", "all"])
    def test_records_arrive_with_every_kind_of_acknowledgement(
        self, client: Client, topic: str, acks: str
    ):
        records = numbered(50)
        offsets = client.produce(topic, records, acks=acks)

        assert client.consume(topic, 50) == as_received(records)
        assert acks == "0" or offsets == list(range(50))

    def test_an_idempotent_producer_writes_its_id_and_its_records_once(
        self, client: Client, broker: BrokerProcess, topic: str
    ):
        records = numbered(200)
        offsets = client.produce(topic, records, idempotent=True)

        assert offsets == list(range(200))
        assert client.consume(topic, 200) == as_received(records)
        producer_id, epoch, sequence = struct.unpack_from(">qhi", broker.log_bytes(topic), 43)
        assert producer_id >= 0
        assert (epoch, sequence) == (0, 0)

    def test_headers_keep_order_duplicates_and_empty_values(self, client: Client, topic: str):
        headers = (("trace", b"1"), ("empty", b""), ("trace", b"2"), ("\u00fc", b"\x00\xff"))
        records = [Sent(b"with", headers=headers), Sent(b"without")]
        client.produce(topic, records)

        assert client.consume(topic, 2) == as_received(records)

    def test_a_null_header_is_read(self, client: Client, bootstrap: str, topic: str):
        """Not every client can write one, so librdkafka does."""
        records = [Sent(b"with", headers=(("null", None), ("empty", b"")))]
        ConfluentClient(bootstrap).produce(topic, records)

        assert client.consume(topic, 1) == as_received(records)

    def test_null_and_empty_keys_and_values_stay_what_they_are(self, client: Client, topic: str):
        records = [
            Sent(b"value", None),
            Sent(None, b"key"),
            Sent(b"", b"key"),
            Sent(b"value", b""),
            Sent(b"", b""),
        ]
        client.produce(topic, records)

        assert client.consume(topic, 5) == as_received(records)

    def test_a_topic_keeps_the_time_of_creation(self, client: Client, topic: str):
        client.produce(topic, [Sent(b"a", timestamp_ms=EARLIER_MS + n) for n in range(3)])

        received = client.consume(topic, 3)
        assert [record.timestamp_ms - EARLIER_MS for record in received] == [0, 1, 2]
        assert {record.timestamp_type for record in received} == {CREATE_TIME}

    def test_a_topic_with_log_append_time_takes_the_brokers_clock(
        self, client: Client, admin: Admin, topic: str
    ):
        admin.create_topic(topic, configs={"message.timestamp.type": "LogAppendTime"})
        before_ms = int(time.time() * 1000)
        client.produce(topic, [Sent(b"a", timestamp_ms=EARLIER_MS)] * 3)

        received = client.consume(topic, 3)
        after_ms = int(time.time() * 1000)
        assert [record.value for record in received] == [b"a"] * 3
        assert {record.timestamp_type for record in received} == {LOG_APPEND_TIME}
        assert all(before_ms - 1 <= record.timestamp_ms <= after_ms for record in received)

    def test_a_record_of_ten_megabytes_passes_where_the_topic_allows_it(
        self, client: Client, admin: Admin, topic: str
    ):
        admin.create_topic(topic, configs={"max.message.bytes": "12000000"})
        records = [Sent(bytes(range(256)) * 40_960), Sent(b"small")]
        client.produce(topic, records)

        assert client.consume(topic, 2) == as_received(records)

    def test_a_record_too_large_for_its_topic_is_refused(
        self, client: Client, admin: Admin, topic: str
    ):
        admin.create_topic(topic, configs={"max.message.bytes": "1000"})

        with pytest.raises(
            Exception, match=r"(?i)MessageSizeTooLarge|MSG_SIZE_TOO_LARGE|too large"
        ):
            client.produce(topic, [Sent(b"x" * 2000)])
        assert client.watermarks(topic) == (0, 0)

    def test_many_partitions_keep_their_records_apart(
        self, client: Client, admin: Admin, topic: str
    ):
        admin.create_topic(topic, partitions=32)
        records = [sent for partition in range(32) for sent in numbered(5, partition=partition)]
        client.produce(topic, records)

        for partition in (0, 1, 15, 31):
            received = client.consume(topic, 5, start=BEGINNING, partition=partition)
            assert received == as_received(numbered(5, partition=partition))
        assert {client.watermarks(topic, partition) for partition in range(32)} == {(0, 5)}
