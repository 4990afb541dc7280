"""Produce: sizes, partitions, batches, acks, compression, and three kinds of clients."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchmarks.measuring import frames
from benchmarks.measuring.clients import java_produce, librdkafka_produce
from benchmarks.measuring.figures import (
    CPU_PER_RECORD,
    CPU_PER_REQUEST,
    DISK_PER_RECORD,
    P50,
    P99,
    P999,
    RECORDS_PER_S,
    REQUESTS_PER_S,
    RESIDENT,
    Figures,
    Goal,
)
from benchmarks.measuring.raw_load import Plan, run_raw
from benchmarks.measuring.side import RunningBroker
from benchmarks.measuring.topics import new_topic
from benchmarks.suite.workload import Workload, on_shared
from kbroker.records import Compression

RUN_S = 2.5
# What a producer puts into a batch by default (batch.size), and into a request (max.request.size).
BATCH_BYTES = 16 * 1024
REQUEST_BYTES = 1024 * 1024
# No run writes more than this, lest the disk be measured and not the broker.
MOST_BYTES = 1024**3

BATCHED_GOALS = {RECORDS_PER_S: Goal(1.2), CPU_PER_RECORD: Goal(0.6)}
SINGLE_GOALS = {REQUESTS_PER_S: Goal(2.0), CPU_PER_REQUEST: Goal(0.4)}
AHEAD_GOALS = {RECORDS_PER_S: Goal(1.0), CPU_PER_RECORD: Goal(1.0)}


@dataclass(frozen=True)
class RawProduce:
    """Prepared Produce requests: a batch for each of ``spread`` partitions in each of them."""

    record_bytes: int = 100
    records: int = 1
    partitions: int = 1
    spread: int = 1
    acks: int = 1
    compression: Compression = Compression.NONE
    connections: int = 4
    in_flight: int = 5
    rate: float = 0.0
    seconds: float = RUN_S
    configs: Mapping[str, str] = field(default_factory=dict)

    def run(self, broker: RunningBroker, scale: float) -> Figures:
        """Send to a new topic."""
        batch = frames.batch(self.records, self.record_bytes, self.compression)
        with new_topic(broker, self.partitions, self.configs) as topic:
            prepared = [
                frames.produce(topic.name, range(first, first + self.spread), batch, acks=self.acks)
                for first in range(0, self.partitions, self.spread)
            ]
            if self.acks == 0:
                prepared.append(frames.metadata(topic.name))
            plan = Plan(
                connections=self.connections,
                in_flight=self.in_flight,
                seconds=max(0.3, self.seconds * scale),
                requests=MOST_BYTES // len(prepared[0]),
                rate=self.rate,
                unanswered=self.acks == 0,
            )
            # The first record of a partition opens its files; that is told by the row of starts.
            opening = run_raw(broker, replace(plan, requests=len(prepared), rate=0.0), prepared)
            result = run_raw(broker, plan, prepared)
            sent = result.requests * self.records * self.spread
            opened = opening.requests * self.records * self.spread
            assert topic.record_count() == sent + opened, "records are missing"
            found = {
                RECORDS_PER_S: sent / result.seconds,
                CPU_PER_RECORD: result.broker_cpu_s * 1e6 / sent,
            }
            if self.records == 1:
                found = {REQUESTS_PER_S: result.per_s, CPU_PER_REQUEST: result.cpu_us}
            if self.acks != 0:
                found |= {P50: result.p50_ms, P99: result.p99_ms, P999: result.p999_ms}
            return found | {
                RESIDENT: broker.resident_mb(),
                DISK_PER_RECORD: topic.disk_bytes() / (sent + opened),
            }


@dataclass(frozen=True)
class JavaProduce:
    """A run of Kafka's ProducerPerformance."""

    records: int
    record_bytes: int = 100
    partitions: int = 1
    options: tuple[str, ...] = ()
    rate: int = -1
    transaction_ms: int = 0

    def run(self, broker: RunningBroker, scale: float) -> Figures:
        """Send to a new topic."""
        with new_topic(broker, self.partitions) as topic:
            records = max(1000, int(self.records * scale))
            return java_produce(
                topic,
                records,
                self.record_bytes,
                self.options,
                rate=self.rate,
                transaction_ms=self.transaction_ms,
            )


def per_batch(record_bytes: int, batch_bytes: int = BATCH_BYTES) -> int:
    """How many records fit; there is always one."""
    return max(1, batch_bytes // (record_bytes + 10))


def _librdkafka(broker: RunningBroker, scale: float) -> Figures:
    with new_topic(broker, 6) as topic:
        return librdkafka_produce(topic, max(1000, int(600_000 * scale)), 100)


def _raw(name: str, load: RawProduce, goals: Mapping[str, Goal], **more: bool) -> Workload:
    return Workload("produce", f"raw: {name}", on_shared(load.run), goals, on_kfake=True, **more)


def _java(name: str, load: JavaProduce, goals: Mapping[str, Goal], **more: bool) -> Workload:
    return Workload("produce", f"java: {name}", on_shared(load.run), goals, **more)


def _partitions(count: int) -> RawProduce:
    """A request with a batch for each of up to a thousand partitions, a megabyte at most."""
    return RawProduce(
        records=per_batch(100, min(BATCH_BYTES, REQUEST_BYTES // count)),
        partitions=count,
        spread=count,
        in_flight=2,
    )


_SIZES = [
    _raw("100 B, 16 KB batches", RawProduce(records=per_batch(100)), BATCHED_GOALS, quick=True),
    _raw("1 KB, 16 KB batches", RawProduce(1024, per_batch(1024)), BATCHED_GOALS, quick=True),
    _raw("10 KB, 20 KB batches", RawProduce(10_240, per_batch(10_240, 22_000)), BATCHED_GOALS),
    _raw("1 MB, one record a batch", RawProduce(1_000_000, in_flight=2), {}),
    _raw("100 B, 900 KB batches", RawProduce(records=per_batch(100, 900_000)), BATCHED_GOALS),
]
_SPREADS = [
    _raw("6 partitions", _partitions(6), BATCHED_GOALS, quick=True),
    _raw("100 partitions", _partitions(100), BATCHED_GOALS),
    _raw("1,000 partitions", _partitions(1000), AHEAD_GOALS, quick=True),
]
_SINGLES = [
    _raw(
        f"one record a request, acks={'all' if acks < 0 else acks}",
        RawProduce(acks=acks, connections=10),
        SINGLE_GOALS,
        quick=acks == 1,
    )
    for acks in (0, 1, -1)
]
_COMPRESSED = [
    _raw(
        f"100 B, 16 KB batches, {compression.name.lower()}",
        RawProduce(records=per_batch(100), compression=compression),
        BATCHED_GOALS,
    )
    for compression in Compression
    if compression is not Compression.NONE
]
_FLUSHED = [
    Workload(
        "produce",
        f"raw: flush.messages=1, one record a request, {connections} in flight",
        on_shared(
            RawProduce(
                connections=connections, in_flight=1, configs={"flush.messages": "1"}, acks=-1
            ).run
        ),
        {REQUESTS_PER_S: Goal(1.0), CPU_PER_REQUEST: Goal(1.0)},
    )
    for connections in (1, 20)
]
_CLIENTS = [
    _java(
        "100 B, 6 partitions, 64 KB batches, acks=1",
        JavaProduce(1_500_000, partitions=6, options=("acks=1", "batch.size=65536")),
        BATCHED_GOALS,
        quick=True,
    ),
    _java("100 B, defaults (idempotent, acks=all)", JavaProduce(1_000_000), BATCHED_GOALS),
    _java("1 KB, 6 partitions, defaults", JavaProduce(300_000, 1024, 6), BATCHED_GOALS),
    _java(
        "one record a request, 5 in flight",
        JavaProduce(30_000, options=("acks=1", "batch.size=1", "linger.ms=0")),
        {RECORDS_PER_S: Goal(2.0), CPU_PER_RECORD: Goal(0.4)},
    ),
    _java(
        "100 B, transactions of 100 ms",
        JavaProduce(500_000, options=("max.block.ms=15000",), transaction_ms=100),
        BATCHED_GOALS,
    ),
    Workload(
        "produce", "librdkafka: 100 B, 6 partitions, defaults", on_shared(_librdkafka),
        BATCHED_GOALS,
    ),
]  # fmt: skip

WORKLOADS = [*_SIZES, *_SPREADS, *_SINGLES, *_COMPRESSED, *_FLUSHED, *_CLIENTS]
