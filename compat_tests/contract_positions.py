"""What must hold for offsets, times and waiting, whichever client asks."""

import threading
import time

from compat_tests.broker_process import BrokerProcess
from compat_tests.client import BEGINNING, END, Admin, Client, Sent
from compat_tests.contract_records import EARLIER_MS, as_received, batches, numbered


class PositionsContract:
    """Where consumers begin to read, and how long they wait there."""

    def test_reading_begins_at_the_beginning_at_an_offset_or_at_the_end(
        self, client: Client, topic: str
    ):
        records = numbered(10)
        client.produce(topic, records)

        assert client.consume(topic, 10, start=BEGINNING) == as_received(records)
        assert client.consume(topic, 3, start=7) == as_received(records)[7:]
        with client.tail(topic, fetch_max_wait_ms=100, start=END) as tail:
            assert tail.poll(0.5) == []

    def test_reading_can_begin_in_the_middle_of_a_compressed_batch(
        self, client: Client, broker: BrokerProcess, topic: str
    ):
        records = numbered(100)
        client.produce(topic, records, compression="zstd")
        # Clients batch as they like: what matters is a batch whose middle can be read from.
        first, last, _ = max(batches(broker.log_bytes(topic)), key=lambda each: each[1] - each[0])
        assert last - first >= 10
        middle = (first + last) // 2

        received = client.consume(topic, 100 - middle, start=middle)
        assert received == as_received(records)[middle:]

    def test_watermarks_are_the_first_offset_and_the_next_one(self, client: Client, topic: str):
        client.produce(topic, numbered(1))
        assert client.watermarks(topic) == (0, 1)

        client.produce(topic, numbered(6))
        assert client.watermarks(topic) == (0, 7)

    def test_a_time_finds_the_first_record_that_is_not_older(self, client: Client, topic: str):
        for n in range(5):
            client.produce(topic, [Sent(b"a", timestamp_ms=EARLIER_MS + 1000 * n)])

        assert client.offset_for_time(topic, EARLIER_MS - 1) == 0
        assert client.offset_for_time(topic, EARLIER_MS + 2000) == 2
        assert client.offset_for_time(topic, EARLIER_MS + 2001) == 3
        assert client.offset_for_time(topic, EARLIER_MS + 4001) is None

    def test_a_time_finds_a_record_inside_a_batch(self, client: Client, topic: str):
        records = [Sent(b"a", timestamp_ms=EARLIER_MS + 10 * n) for n in range(100)]
        client.produce(topic, records, compression="gzip")

        assert client.offset_for_time(topic, EARLIER_MS + 495) == 50

    def test_a_waiting_fetch_returns_as_soon_as_a_record_arrives(self, client: Client, topic: str):
        client.produce(topic, numbered(1))
        with client.tail(topic, fetch_max_wait_ms=20_000, start=1) as tail:
            assert tail.poll(1.0) == []  # the fetch is on its way and waits at the broker
            began_at = time.monotonic()
            producing = threading.Timer(0.3, client.produce, (topic, [Sent(b"wake up")]))
            producing.start()
            received = []
            while not received and time.monotonic() < began_at + 19:
                received = tail.poll(1.0)
            waited_s = time.monotonic() - began_at
            producing.join()

        assert [record.value for record in received] == [b"wake up"]
        # Far below the 20 seconds of the fetch, far above what a busy machine needs.
        assert waited_s < 10

    def test_deleted_records_move_the_first_offset(self, client: Client, admin: Admin, topic: str):
        records = numbered(20)
        client.produce(topic, records)

        assert admin.delete_records(topic, 12) == 12
        assert client.watermarks(topic) == (12, 20)
        assert client.consume(topic, 8, start=BEGINNING) == as_received(records)[12:]
