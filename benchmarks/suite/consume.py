"""Consume: from the page cache, while others produce, and one topic to many readers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.measuring import frames
from benchmarks.measuring.clients import java_consume, librdkafka_consume, spent
from benchmarks.measuring.figures import (
    CPU_PER_RECORD,
    P50,
    P99,
    P999,
    RECORDS_PER_S,
    RESIDENT,
    Figures,
    Goal,
)
from benchmarks.measuring.raw_load import Plan, run_raw
from benchmarks.measuring.side import RunningBroker
from benchmarks.measuring.topics import Topic, new_topic
from benchmarks.suite.produce import AHEAD_GOALS, BATCH_BYTES, RUN_S, per_batch
from benchmarks.suite.workload import Workload, on_shared

GOALS = {RECORDS_PER_S: Goal(1.2), CPU_PER_RECORD: Goal(0.3)}
# A fetch brings up to this much of a partition (max.partition.fetch.bytes).
_FETCH_BYTES = frames.PARTITION_MAX_BYTES
# How many such pieces each partition has for the readers to ask for in turn.
_PIECES = 32


@contextmanager
def filled(
    broker: RunningBroker, partitions: int, record_bytes: int, records: int
) -> Iterator[Topic]:
    """A topic that holds at least so many records, in batches of the usual size."""
    count = per_batch(record_bytes)
    batch = frames.batch(count, record_bytes)
    with new_topic(broker, partitions) as topic:
        prepared = [frames.produce(topic.name, [index], batch) for index in range(partitions)]
        # A multiple of the partitions, so that all have the same.
        each = -(-records // (count * partitions))
        run_raw(broker, Plan(in_flight=5, requests=each * partitions), prepared)
        yield topic


def _raw_fetch(
    broker: RunningBroker, scale: float, *, record_bytes: int, partitions: int, connections: int
) -> Figures:
    """Readers that ask for one piece of one partition after another."""
    count = per_batch(record_bytes)
    batch_bytes = len(frames.batch(count, record_bytes))
    # Whole batches only, so that what comes back can be counted.
    batches = _FETCH_BYTES // batch_bytes
    pieces = max(1, _PIECES // partitions)
    wanted = pieces * batches * count * partitions
    with filled(broker, partitions, record_bytes, wanted) as topic:
        topic_id = topic.topic_id()
        prepared = [
            frames.fetch(
                topic_id, {index: piece * batches * count}, max_bytes=batches * batch_bytes
            )
            for piece in range(pieces)
            for index in range(partitions)
        ]
        plan = Plan(connections=connections, in_flight=1, seconds=max(0.3, RUN_S * scale))
        result = run_raw(broker, plan, prepared)
        assert result.smallest >= batches * batch_bytes, "an answer is short of records"
        records = result.requests * batches * count
        return {
            RECORDS_PER_S: records / result.seconds,
            CPU_PER_RECORD: result.broker_cpu_s * 1e6 / records,
            P50: result.p50_ms,
            P99: result.p99_ms,
            P999: result.p999_ms,
            RESIDENT: broker.resident_mb(),
        }


def _raw(
    name: str, record_bytes: int, *, partitions: int = 1, connections: int = 4, quick: bool
) -> Workload:
    def run(broker: RunningBroker, scale: float) -> Figures:
        return _raw_fetch(
            broker, scale, record_bytes=record_bytes, partitions=partitions, connections=connections
        )

    goals = AHEAD_GOALS if connections == 20 else GOALS
    return Workload("consume", f"raw: {name}", on_shared(run), goals, quick=quick, on_kfake=True)


def _librdkafka(broker: RunningBroker, scale: float) -> Figures:
    records = max(10_000, int(1_000_000 * scale))
    with filled(broker, 6, 100, records) as topic:
        return librdkafka_consume(topic, topic.record_count())


def _java(broker: RunningBroker, scale: float) -> Figures:
    records = max(10_000, int(3_000_000 * scale))
    with filled(broker, 6, 100, records) as topic:
        return java_consume(topic, topic.record_count())


def _while_producing(broker: RunningBroker, scale: float) -> Figures:
    """A producer at full speed, and a reader who is done when it has all of it."""
    count = per_batch(100, BATCH_BYTES)
    requests = max(1, int(600_000 * scale) // count)
    with new_topic(broker) as topic:
        prepared = [frames.produce(topic.name, [0], frames.batch(count, 100))]
        plan = Plan(in_flight=5, requests=requests)
        producer = threading.Thread(target=run_raw, args=(broker, plan, prepared))
        with spent(broker) as broker_spent:
            producer.start()
            found = librdkafka_consume(topic, requests * count)
            producer.join()
        records = requests * count
        return found | {CPU_PER_RECORD: broker_spent.cpu_s * 1e6 / records}


WORKLOADS = [
    _raw("100 B, page cache", 100, quick=True),
    _raw("100 B, page cache, 6 partitions", 100, partitions=6, quick=False),
    _raw("1 KB, page cache", 1024, quick=True),
    _raw("100 B, fan-out to 20 readers", 100, connections=20, quick=True),
    Workload("consume", "java: 100 B, 6 partitions", on_shared(_java), GOALS),
    Workload(
        "consume", "librdkafka: 100 B, 6 partitions", on_shared(_librdkafka), GOALS, quick=True
    ),
    Workload("consume", "librdkafka: while producing", on_shared(_while_producing), GOALS),
]
