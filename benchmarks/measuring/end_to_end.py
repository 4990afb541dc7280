"""From producer to consumer at a fixed rate: how old a record is when it is handed over.

    python -m benchmarks.measuring.end_to_end BOOTSTRAP TOPIC RECORDS    the consumer's process

Both ends are librdkafka, in processes of their own. The producer does not linger. The timestamp of
a record has milliseconds only, so its value begins with the same moment in nanoseconds.
"""

import json
import subprocess
import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition

from benchmarks.measuring.clients import spent
from benchmarks.measuring.figures import CPU_PER_RECORD, P50, P99, P999, RESIDENT, Figures
from benchmarks.measuring.topics import Topic

_PATIENCE_S = 30.0
# The first records find connections that are still being opened.
_LEFT_OUT_S = 0.5
_STAMP_BYTES = 8


def end_to_end(topic: Topic, *, rate: int, seconds: float, record_bytes: int = 100) -> Figures:
    """The age of records at the consumer, ``rate`` records a second."""
    records = int(rate * seconds)
    command = [sys.executable, "-m", "benchmarks.measuring.end_to_end"]
    command += [topic.broker.bootstrap, topic.name, str(records)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as consumer:
        assert consumer.stdout is not None
        try:
            assert consumer.stdout.readline() == "ready\n"
            with spent(topic.broker) as broker_spent:
                _produce(topic, records, rate, bytes(record_bytes - _STAMP_BYTES))
                line = consumer.stdout.readline()
        finally:
            consumer.kill()
    ages_ms: list[float] = sorted(json.loads(line)[int(rate * _LEFT_OUT_S) :])
    return {
        P50: _share(ages_ms, 0.5),
        P99: _share(ages_ms, 0.99),
        P999: _share(ages_ms, 0.999),
        CPU_PER_RECORD: broker_spent.cpu_s * 1e6 / records,
        RESIDENT: topic.broker.resident_mb(),
    }


def _share(values: list[float], part: float) -> float:
    return values[min(int(part * len(values)), len(values) - 1)]


def _produce(topic: Topic, records: int, rate: int, padding: bytes) -> None:
    producer = Producer({"bootstrap.servers": topic.broker.bootstrap, "linger.ms": 0, "acks": 1})
    producer.list_topics(topic.name)
    began_at = time.monotonic()
    for number in range(records):
        wait_s = began_at + number / rate - time.monotonic()
        if wait_s > 0:
            time.sleep(wait_s)
        producer.produce(topic.name, time.time_ns().to_bytes(_STAMP_BYTES, "big") + padding)
        producer.poll(0)
    assert producer.flush(_PATIENCE_S) == 0


def _consume(bootstrap: str, topic: str, records: int) -> None:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    consumer.poll(1.0)
    print("ready", flush=True)
    ages_ms: list[float] = []
    while len(ages_ms) < records:
        message = consumer.poll(_PATIENCE_S)
        assert message is not None, f"only {len(ages_ms)} of {records} records came"
        value = message.value()
        assert message.error() is None, message.error()
        assert isinstance(value, bytes)
        sent_ns = int.from_bytes(value[:_STAMP_BYTES], "big")
        ages_ms.append((time.time_ns() - sent_ns) / 1e6)
    print(json.dumps([round(age, 3) for age in ages_ms]), flush=True)
    consumer.close()


if __name__ == "__main__":
    _consume(sys.argv[1], sys.argv[2], int(sys.argv[3]))
