"""Compaction: how fast records go that have been superseded, and what that costs."""

import time

from benchmarks.measuring import frames
from benchmarks.measuring.clients import spent
from benchmarks.measuring.figures import CPU_PER_RECORD, RECORDS_PER_S, RESIDENT, Figures, Goal
from benchmarks.measuring.raw_load import Plan, run_raw
from benchmarks.measuring.side import Side
from benchmarks.measuring.topics import new_topic
from benchmarks.suite.produce import per_batch
from benchmarks.suite.workload import Lab, Workload
from kbroker.client.cluster import Cluster
from kbroker.client.topics import configure_topic

GOALS = {RECORDS_PER_S: Goal(1.0), CPU_PER_RECORD: Goal(1.0)}

# The default of 15 s between two looks of the cleaner would be most of what is measured.
_PROPERTIES = {"log.cleaner.backoff.ms": "100"}
_TOPIC = {"segment.bytes": str(16 * 1024**2), "cleanup.policy": "delete"}
_COMPACT = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
_RECORDS = 1_500_000
_KEYS = 10_000
_BATCHES = 8
# All but the segment that is written to shrinks to next to nothing.
_LEFT = 0.25
_PATIENCE_S = 100.0


def _run(_lab: Lab, side: Side, scale: float) -> Figures:
    count = per_batch(100, 64 * 1024)
    with side.running(_PROPERTIES) as broker, new_topic(broker, 1, _TOPIC) as topic:
        prepared = [
            frames.produce(topic.name, [0], frames.batch(count, 100 + number, keys=_KEYS))
            for number in range(_BATCHES)
        ]
        plan = Plan(in_flight=5, requests=int(_RECORDS * scale) // count)
        run_raw(broker, plan, prepared)
        records = topic.record_count()
        full_bytes = topic.disk_bytes()
        with Cluster(broker.bootstrap) as cluster, spent(broker) as broker_spent:
            began_at = time.monotonic()
            configure_topic(cluster, topic.name, change=_COMPACT)
            while topic.disk_bytes() > full_bytes * _LEFT:
                assert time.monotonic() < began_at + _PATIENCE_S, "the log does not shrink"
                time.sleep(0.05)
            took_s = time.monotonic() - began_at
        return {
            RECORDS_PER_S: records / took_s,
            CPU_PER_RECORD: broker_spent.cpu_s * 1e6 / records,
            RESIDENT: broker.resident_mb(),
        }


WORKLOADS = [
    Workload(
        "compaction", "1.5 million records with 10,000 keys", _run, GOALS, rounds=2, warm_up=False
    )
]
