"""Runs every workload against both brokers, and prints a table of medians and ratios.

    .venv/bin/python -m benchmarks.hot_path [--runs 3] [--scale 1.0] [--only TEXT]

Both brokers run all the time; each workload alternates between them, so that whatever else the
machine does hits both. A short run of everything comes first, for Java's compiler's sake.
"""

import argparse
from collections.abc import Callable
from statistics import median

from benchmarks.hot_path.brokers import RunningBroker, apache_kafka, kbroker
from benchmarks.hot_path.workloads import WORKLOADS, Figures, Workload

_WARM_UP = 0.1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="", help="workloads with this text in their name")
    arguments = parser.parse_args()
    with apache_kafka() as kafka, kbroker() as ours:
        print("| workload | | Apache Kafka 4.3.1 | kbroker | ratio |\n|---|---|---:|---:|---:|")
        for workload in (each for each in WORKLOADS if arguments.only in each.name):
            _measure(workload, kafka, ours, arguments.runs, arguments.scale)
        _row("resident memory after the runs", "MB", kafka.resident_mb(), ours.resident_mb(), True)
        _row("start to serving", "s", kafka.start_s, ours.start_s, True)


def _measure(
    workload: Workload, kafka: RunningBroker, ours: RunningBroker, runs: int, scale: float
) -> None:
    for broker in (kafka, ours):
        workload.run(broker, scale * _WARM_UP)
    theirs, mine = [], []
    for _ in range(runs):
        theirs.append(workload.run(kafka, scale))
        mine.append(workload.run(ours, scale))

    def row(unit: str, figure: Callable[[Figures], float], less_is_better: bool) -> None:
        _row(
            workload.name,
            unit,
            median(map(figure, theirs)),
            median(map(figure, mine)),
            less_is_better,
        )

    if getattr(workload, "throughput", -1) < 0:
        row("records/s", lambda figures: figures.records_per_s, False)
    else:
        row("p99 ms", lambda figures: figures.p99_ms, True)
        row("p99.9 ms", lambda figures: figures.p999_ms, True)
    row("broker CPU us/record", lambda figures: figures.cpu_us_per_record, True)


def _row(name: str, unit: str, theirs: float, mine: float, less_is_better: bool) -> None:
    """One line; a ratio above 1 means that kbroker is ahead."""
    better, worse = (theirs, mine) if less_is_better else (mine, theirs)
    ratio = better / worse if worse else float("inf")
    print(f"| {name} | {unit} | {theirs:,.3g} | {mine:,.3g} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
