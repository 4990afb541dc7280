"""Until a broker serves: empty, with many partitions, after a crash; and what it holds at the end.

A broker serves when it has acknowledged a record, not when its port is open. The clock starts with
the process; data directories are formatted before.
"""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.measuring import frames
from benchmarks.measuring.figures import RESIDENT, SECONDS, Figures, Goal
from benchmarks.measuring.processes import BrokerProcess
from benchmarks.measuring.raw_load import Plan, run_raw
from benchmarks.measuring.side import RunningBroker, Side
from benchmarks.measuring.topics import wait_for_partitions
from benchmarks.suite.produce import per_batch
from benchmarks.suite.small_requests import ask_metadata, ask_offsets
from benchmarks.suite.workload import Lab, Workload
from kbroker.client.cluster import Cluster
from kbroker.client.topics import LATEST, create_topic, list_offsets
from kbroker.wire import ErrorCode
from kbroker.wire.messages.produce import ProduceResponse

START_GOALS = {SECONDS: Goal(0.25)}
MEMORY_GOALS = {RESIDENT: Goal(0.15)}

_TOPIC = "first"
_PATIENCE_S = 180.0
# Kafka's controller takes ten thousand records in one change, and a partition is one.
_PARTITIONS_PER_TOPIC = 1000
_TAIL_BYTES = 1024**3
_TAIL_BATCH_BYTES = 256 * 1024


def seconds_to_first_record(process: BrokerProcess) -> float:
    """From the start of the process until a record is acknowledged."""
    asking = frames.produce(_TOPIC, [0], frames.batch(1, 100))
    began_at = time.monotonic()
    process.spawn()
    while not _acknowledged(process.port, asking):
        assert time.monotonic() < began_at + _PATIENCE_S, "no record was acknowledged"
        time.sleep(0.002)
    return time.monotonic() - began_at


def _acknowledged(port: int, asking: bytes) -> bool:
    """Whether a broker takes a record now."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE_S) as connection:
            connection.sendall(asking)
            stream = connection.makefile("rb")
            size = int.from_bytes(stream.read(4), "big")
            body = stream.read(size)
    except OSError:
        return False
    if not body or len(body) < size:
        return False
    answer = frames.answer(ProduceResponse, frames.PRODUCE_VERSION, body)
    return answer.responses[0].partition_responses[0].error_code == ErrorCode.NONE


@contextmanager
def _prepared(side: Side, partitions: int) -> Iterator[BrokerProcess]:
    """A broker that runs and has a topic for the first record, and idle partitions."""
    with side.fresh() as process:
        process.start()
        with Cluster(f"127.0.0.1:{process.port}", timeout_s=120.0) as cluster:
            topics = _idle_topics(partitions)
            for name, count in {_TOPIC: 1, **topics}.items():
                create_topic(cluster, name, partitions=count, replication_factor=1)
                wait_for_partitions(cluster, name, count)
        yield process


def _idle_topics(partitions: int) -> dict[str, int]:
    """Names of topics, and how many partitions each has."""
    count = partitions // _PARTITIONS_PER_TOPIC
    return {f"idle-{number}": _PARTITIONS_PER_TOPIC for number in range(count)}


def _start(partitions: int, *, quick: bool = False) -> Workload:
    def run(_lab: Lab, side: Side, _scale: float) -> Figures:
        with _prepared(side, partitions) as process:
            process.stop()
            took_s = seconds_to_first_record(process)
            return {SECONDS: took_s, RESIDENT: RunningBroker(side.name, process).resident_mb()}

    name = f"start to first acknowledged record, {partitions:,} partitions"
    goals = START_GOALS | (MEMORY_GOALS if partitions == 0 else {})
    rounds = 3 if partitions == 0 else 1
    return Workload("start", name, run, goals, quick=quick, rounds=rounds, warm_up=False)


def _many_partitions(_lab: Lab, side: Side, scale: float) -> Figures:
    """Questions about ten thousand partitions, on a broker that is started for them."""
    with _prepared(side, 10_000) as process:
        broker = RunningBroker(side.name, process)
        topics = _idle_topics(10_000)
        found: Figures = {}
        for _ in range(2):  # the first is a warm-up
            asked = {
                "ListOffsets": ask_offsets(broker, topics, scale),
                "Metadata": ask_metadata(broker, None, 10_000, scale),
            }
        for what, figures in asked.items():
            found |= {f"{what} {name}": figures[name] for name in ("requests/s", "CPU us/request")}
        began_at = time.monotonic()
        process.stop()
        found["seconds to stop"] = time.monotonic() - began_at
        found["seconds to start"] = seconds_to_first_record(process)
        return found | {RESIDENT: broker.resident_mb()}


def _recovery(_lab: Lab, side: Side, scale: float) -> Figures:
    """SIGKILL with a tail that was never flushed, then the time until records are taken again."""
    count = per_batch(1024, _TAIL_BATCH_BYTES)
    batch = frames.batch(count, 1024)
    with _prepared(side, 0) as process:
        broker = RunningBroker(side.name, process)
        plan = Plan(in_flight=5, requests=int(_TAIL_BYTES * scale) // len(batch))
        run_raw(broker, plan, [frames.produce(_TOPIC, [0], batch)])
        process.kill()
        took_s = seconds_to_first_record(process)
        cpu_s = broker.cpu_s()
        with Cluster(broker.bootstrap) as cluster:
            (end,) = list_offsets(cluster, _TOPIC, {0: LATEST}).values()
        assert end == plan.requests * count + 1, "acknowledged records are missing"
        return {SECONDS: took_s, "CPU seconds": cpu_s, RESIDENT: broker.resident_mb()}


def _memory(_lab: Lab, side: Side, _scale: float) -> Figures:
    return {RESIDENT: side.shared().resident_mb()}


WORKLOADS = [
    _start(0, quick=True),
    _start(1000),
    Workload(
        "start", "10,000 partitions: questions, stop, start", _many_partitions,
        {
            "ListOffsets requests/s": Goal(1.0), "Metadata requests/s": Goal(1.0),
            "ListOffsets CPU us/request": Goal(1.0), "Metadata CPU us/request": Goal(1.0),
            "seconds to start": Goal(0.25),
        },
        rounds=1, warm_up=False,
    ),
    Workload(
        "start", "recovery after SIGKILL, 1 GiB not flushed", _recovery,
        {SECONDS: Goal(1.0)}, rounds=2, warm_up=False,
    ),
]  # fmt: skip

# The last row of all: what the brokers hold that have served all others.
MEMORY = Workload(
    "memory", "memory after the suite", _memory, MEMORY_GOALS, quick=True, rounds=1, warm_up=False
)
