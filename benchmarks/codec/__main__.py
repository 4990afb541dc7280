"""Prints the table: `python -m benchmarks.codec`."""

import gc
import platform
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter_ns

from benchmarks.codec.cases import cases

# The best of many short rounds: what disturbs a measurement only ever makes it slower.
ROUNDS = 15
ROUND_NS = 20_000_000


def main() -> None:
    """Measures all rows."""
    print(
        f"Python {platform.python_version()}, kafka-python {version('kafka-python')}, "
        f"kio {version('kio')}; microseconds, the best of {ROUNDS} rounds"
    )
    print(f"{'':38}{'kbroker':>9}{'kafka-python':>21}{'kio':>18}")
    for case in cases():
        ours, kafka, kio = measure(case.kbroker, case.kafka_python, case.kio)
        assert ours is not None
        assert kafka is not None
        others = f"{kafka:12.1f} ({kafka / ours:5.1f}x)"
        others += f"{kio:9.1f} ({kio / ours:5.1f}x)" if kio is not None else f"{'-':>9}"
        print(f"{case.name:38}{ours:9.2f}  {others}")


def measure(*works: Callable[[], object] | None) -> list[float | None]:
    """Microseconds of each, measured in turns so that all see the same machine."""
    best: list[float | None] = [None] * len(works)
    repeats = [0 if work is None else _repeats(work) for work in works]
    gc.collect()
    gc.disable()
    for _ in range(ROUNDS):
        for number, work in enumerate(works):
            if work is None:
                continue
            taken = _time_ns(work, repeats[number]) / repeats[number] / 1000
            before = best[number]
            best[number] = taken if before is None else min(before, taken)
    gc.enable()
    return best


def _repeats(work: Callable[[], object]) -> int:
    """How often ``work`` fits into a round; at least once."""
    work()
    taken = max(1, min(_time_ns(work, 3) // 3, ROUND_NS))
    return max(1, ROUND_NS // taken)


def _time_ns(work: Callable[[], object], repeats: int) -> int:
    turns = range(repeats)
    start = perf_counter_ns()
    for _ in turns:
        work()
    return perf_counter_ns() - start


if __name__ == "__main__":
    main()
