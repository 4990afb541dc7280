"""Real clients as load: Kafka's own perf tools, and librdkafka."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import Consumer, Producer, TopicPartition
from tools.apache_kafka import run_java

from benchmarks.measuring.figures import (
    CPU_PER_RECORD,
    DISK_PER_RECORD,
    P50,
    P99,
    P999,
    RECORDS_PER_S,
    RESIDENT,
    Figures,
)
from benchmarks.measuring.side import RunningBroker
from benchmarks.measuring.topics import Topic

_SENT = re.compile(
    r"(\d+) steady state records sent, ([\d.]+) records/sec .*?"
    r"([\d.]+) ms 50th, [\d.]+ ms 95th, ([\d.]+) ms 99th, ([\d.]+) ms 99.9th"
)
_CLIENT_HEAP = "1g"
# The client's share of records before its figures count: its JVM is new in every run.
_CLIENT_WARM_UP = 0.25
_PATIENCE_S = 30.0


@dataclass
class Spent:
    """Processor time of a broker over a while; complete when the while is over."""

    cpu_s: float = 0.0


@contextmanager
def spent(broker: RunningBroker) -> Iterator[Spent]:
    """What the broker spends meanwhile."""
    found = Spent()
    before_s = broker.cpu_s()
    yield found
    found.cpu_s = broker.cpu_s() - before_s


def java_produce(
    topic: Topic,
    records: int,
    record_bytes: int,
    options: Sequence[str],
    *,
    rate: int = -1,
    transaction_ms: int = 0,
) -> Figures:
    """A run of Kafka's ProducerPerformance; ``rate`` is in records a second.

    With ``transaction_ms`` it commits a transaction that often.
    """
    warm_up = int(records * _CLIENT_WARM_UP)
    transactions = ["--transaction-duration-ms", str(transaction_ms)] if transaction_ms else []
    broker = topic.broker
    with spent(broker) as broker_spent:
        output = run_java(
            "org.apache.kafka.tools.ProducerPerformance",
            *("--topic", topic.name, "--num-records", str(records)),
            *("--record-size", str(record_bytes), "--throughput", str(rate)),
            *("--warmup-records", str(warm_up), *transactions),
            *("--command-property", f"bootstrap.servers={broker.bootstrap}", *options),
            heap=_CLIENT_HEAP,
            quick_start=False,
        ).decode()
    *_, totals = _SENT.finditer(output)
    sent, per_s, p50, p99, p999 = map(float, totals.groups())
    # Transactions leave markers beside the records.
    taken = topic.record_count()
    assert sent == records - warm_up, output[-2000:]
    assert taken > records if transaction_ms else taken == records, f"{taken} records were taken"
    found = {RECORDS_PER_S: per_s} if rate < 0 else {P50: p50, P99: p99, P999: p999}
    return {
        **found,
        CPU_PER_RECORD: broker_spent.cpu_s * 1e6 / records,
        RESIDENT: broker.resident_mb(),
        DISK_PER_RECORD: topic.disk_bytes() / records,
    }


def java_consume(
    topic: Topic, records: int, options: Sequence[str] = (), *, bootstrap: str | None = None
) -> Figures:
    """A run of Kafka's ConsumerPerformance; its rate leaves out the time to join a group.

    ``bootstrap`` is the address of another listener than the plain one.
    """
    more = [word for option in options for word in ("--command-property", option)]
    with spent(topic.broker) as broker_spent:
        output = run_java(
            "org.apache.kafka.tools.ConsumerPerformance",
            *("--bootstrap-server", bootstrap or topic.broker.bootstrap, "--topic", topic.name),
            *("--num-records", str(records), "--timeout", str(int(_PATIENCE_S * 1000)), *more),
            heap=_CLIENT_HEAP,
            quick_start=False,
        ).decode()
    heading, values = [line.split(", ") for line in output.strip().splitlines()[-2:]]
    columns = dict(zip(heading, values, strict=True))
    # data.consumed.in.nMsg, and fetch.nMsg.sec without the rebalance
    read = int(float(next(value for name, value in columns.items() if name.endswith("nMsg"))))
    assert read >= records, output[-2000:]
    return {
        RECORDS_PER_S: float(columns["fetch.nMsg.sec"]),
        CPU_PER_RECORD: broker_spent.cpu_s * 1e6 / read,
        RESIDENT: topic.broker.resident_mb(),
    }


def librdkafka_produce(topic: Topic, records: int, record_bytes: int) -> Figures:
    """librdkafka's producer with its defaults (acks=all, linger 5 ms)."""
    producer = Producer({"bootstrap.servers": topic.broker.bootstrap})
    value = b"v" * record_bytes
    with spent(topic.broker) as broker_spent:
        began_at = time.monotonic()
        for _ in range(records):
            while True:
                try:
                    producer.produce(topic.name, value)
                    break
                except BufferError:
                    producer.poll(0.01)
        left = producer.flush(_PATIENCE_S)
        took_s = time.monotonic() - began_at
    assert left == 0
    assert topic.record_count() == records
    return {
        RECORDS_PER_S: records / took_s,
        CPU_PER_RECORD: broker_spent.cpu_s * 1e6 / records,
        RESIDENT: topic.broker.resident_mb(),
        DISK_PER_RECORD: topic.disk_bytes() / records,
    }


def librdkafka_consume(topic: Topic, records: int) -> Figures:
    """A librdkafka consumer that reads a topic from its beginning."""
    consumer = Consumer(
        {
            "bootstrap.servers": topic.broker.bootstrap,
            "group.id": "bench",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic.name, number, 0) for number in range(topic.partitions)])
    read = 0
    with spent(topic.broker) as broker_spent:
        began_at = time.monotonic()
        while read < records:
            # It waits until it has as many as it is asked for.
            messages = consumer.consume(min(10_000, records - read), timeout=_PATIENCE_S)
            assert messages, f"only {read} of {records} records came"
            read += len(messages)
        took_s = time.monotonic() - began_at
    consumer.close()
    return {
        RECORDS_PER_S: read / took_s,
        CPU_PER_RECORD: broker_spent.cpu_s * 1e6 / read,
        RESIDENT: topic.broker.resident_mb(),
    }
