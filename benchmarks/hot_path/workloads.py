"""What is sent and fetched. Each workload gives its figures for one broker and one run."""

import re
import time
from dataclasses import dataclass
from uuid import uuid4

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from tools.apache_kafka import run_java

from benchmarks.hot_path.brokers import RunningBroker

_TOTALS = re.compile(
    r"([\d.]+) records sent, ([\d.]+) records/sec .*?([\d.]+) ms 99th, ([\d.]+) ms"
)


@dataclass(frozen=True)
class Figures:
    """What one run of one workload came to."""

    records: int
    records_per_s: float
    broker_cpu_s: float
    p99_ms: float = 0.0
    p999_ms: float = 0.0

    @property
    def cpu_us_per_record(self) -> float:
        """Processor time of the broker for each record."""
        return self.broker_cpu_s * 1e6 / self.records


@dataclass(frozen=True)
class Produce:
    """A run of Kafka's ProducerPerformance."""

    name: str
    partitions: int
    record_bytes: int
    records: int
    options: tuple[str, ...]
    throughput: int = -1

    def run(self, broker: RunningBroker, scale: float) -> Figures:
        """Send to a new topic; ``scale`` makes it shorter for a warm-up."""
        return self.send(broker, new_topic(broker, self.partitions), scale)

    def send(self, broker: RunningBroker, topic: str, scale: float) -> Figures:
        """Send to ``topic``."""
        records = max(1000, int(self.records * scale))
        before_s = broker.cpu_s()
        output = run_java(
            "org.apache.kafka.tools.ProducerPerformance",
            *("--topic", topic, "--num-records", str(records)),
            *("--record-size", str(self.record_bytes), "--throughput", str(self.throughput)),
            *("--producer-props", f"bootstrap.servers={broker.bootstrap}", *self.options),
            heap="1g",
            quick_start=False,
        ).decode()
        cpu_s = broker.cpu_s() - before_s
        *_, totals = _TOTALS.finditer(output)
        sent, per_second, p99, p999 = map(float, totals.groups())
        assert sent == records, output[-2000:]
        return Figures(records, per_second, cpu_s, p99, p999)


@dataclass(frozen=True)
class Fetch:
    """A librdkafka consumer that reads a topic from its beginning."""

    name: str
    partitions: int
    record_bytes: int
    records: int

    def run(self, broker: RunningBroker, scale: float) -> Figures:
        """Fill a new topic, then read it."""
        filling = Produce(
            "fill", self.partitions, self.record_bytes, self.records, ("acks=1", "linger.ms=5")
        )
        topic = new_topic(broker, self.partitions)
        filling.send(broker, topic, scale)
        records = max(1000, int(self.records * scale))
        consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": "bench",
                "enable.auto.commit": False,
            }
        )
        consumer.assign([TopicPartition(topic, number, 0) for number in range(self.partitions)])
        before_s, began_at = broker.cpu_s(), time.monotonic()
        read = 0
        while read < records:
            messages = consumer.consume(10_000, timeout=10)
            assert messages, f"only {read} of {records} records came"
            read += len(messages)
        took_s = time.monotonic() - began_at
        cpu_s = broker.cpu_s() - before_s
        consumer.close()
        return Figures(read, read / took_s, cpu_s)


def new_topic(broker: RunningBroker, partitions: int) -> str:
    """A topic that nobody has used."""
    name = f"bench-{uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for created in admin.create_topics([NewTopic(name, partitions, 1)]).values():
        created.result(30)
    return name


Workload = Produce | Fetch

WORKLOADS: tuple[Workload, ...] = (
    Produce(
        "produce 100 B, 6 partitions, 64 KB batches, linger 5 ms, acks=1",
        6, 100, 3_000_000, ("acks=1", "batch.size=65536", "linger.ms=5"),
    ),
    Produce(
        "produce 100 B, 1 partition, default batching, acks=all", 1, 100, 3_000_000, ("acks=all",)
    ),
    Produce("produce 1 KB, 6 partitions, acks=all", 6, 1024, 1_000_000, ("acks=all",)),
    Produce(
        "one record per request, 5 in flight",
        1, 100, 60_000,
        ("acks=1", "batch.size=1", "linger.ms=0", "max.in.flight.requests.per.connection=5"),
    ),
    Produce(
        "2,000/s paced, linger 0", 1, 100, 30_000, ("acks=all", "linger.ms=0"), throughput=2000
    ),
    Fetch("fetch 100 B (librdkafka)", 6, 100, 2_000_000),
)  # fmt: skip
