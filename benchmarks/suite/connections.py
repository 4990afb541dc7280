"""Many connections: busy ones with one small request each, and ten thousand that do nothing."""

from benchmarks.measuring.figures import Figures, Goal
from benchmarks.measuring.raw_load import Plan, opened
from benchmarks.measuring.side import RunningBroker
from benchmarks.suite.produce import SINGLE_GOALS, RawProduce
from benchmarks.suite.workload import Workload, on_shared

_IDLE_S = 8.0
_IDLE = 10_000
# Local ports of one address would do for one broker, not for several rounds in a row.
_SOURCES = 8

KB_PER_CONNECTION = "KB/connection"
CPU_IDLE = "CPU % while idle"


def _busy(count: int) -> Workload:
    load = RawProduce(connections=count, in_flight=1)
    return Workload(
        "connections",
        f"raw: one record a request, {count:,} connection{'s' if count > 1 else ''}, one in flight",
        on_shared(load.run),
        SINGLE_GOALS,
        quick=count == 1000,
        on_kfake=True,
    )


def _idle(broker: RunningBroker, scale: float) -> Figures:
    """What connections cost that have asked one question and then fall silent."""
    count = int(_IDLE * scale)
    before_mb = broker.resident_mb()
    with opened(
        broker, Plan(connections=count, in_flight=0, seconds=_IDLE_S, sources=_SOURCES)
    ) as load:
        held_mb = broker.resident_mb() - before_mb
        result = load.run()
        return {
            KB_PER_CONNECTION: max(0.0, held_mb) * 1024 / count,
            CPU_IDLE: result.broker_cpu_s * 100 / result.seconds,
        }


WORKLOADS = [
    *(_busy(count) for count in (1, 10, 100, 1000)),
    Workload(
        "connections",
        "raw: 10,000 idle connections",
        on_shared(_idle),
        {KB_PER_CONNECTION: Goal(value=30.0), CPU_IDLE: Goal(1.0)},
        quick=True,
        # What a first crowd leaves behind in memory, the next ones use again.
        rounds=1,
        warm_up=False,
    ),
]
