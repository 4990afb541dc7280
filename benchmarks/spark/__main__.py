"""Runs all workloads on both brokers in turns, and prints a table of rates and ratios.

.venv/bin/python -m benchmarks.spark [--rows 500000] [--runs 4] [--only TEXT]
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from spark_jobs.small_session import small_session

from benchmarks.measuring.side import kafka_side, kbroker_side
from benchmarks.measuring.topics import new_topic
from benchmarks.spark.workloads import PARTITIONS, WORKLOADS, Place, fill, write_files


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--only", default="", help="workloads with this text in their name")
    arguments = parser.parse_args()
    rows = arguments.rows
    with (
        tempfile.TemporaryDirectory(prefix="spark-bench-") as folder,
        kafka_side().running() as kafka,
        kbroker_side().running() as ours,
        small_session(Path(folder) / "warehouse", memory="2g", quick_start=False) as spark,
        ExitStack() as topics,
    ):
        files = Path(folder) / "rows"
        write_files(spark, rows, files)
        places = []
        for broker in (kafka, ours):
            topic = topics.enter_context(new_topic(broker, PARTITIONS))
            fill(spark, rows, topic)
            places.append(Place(spark, broker, rows, files, topic))
        print(f"{rows:,} rows, {PARTITIONS} partitions, medians of {arguments.runs}\n")
        print("| Spark | | Apache Kafka 4.3.1 | kbroker | ratio |\n|---|---|---:|---:|---:|")
        for name in WORKLOADS:
            if arguments.only in name:
                _compare(name, places, arguments.runs)


def _compare(name: str, places: Sequence[Place], runs: int) -> None:
    """In turns, each first as often as the other: what else the machine does falls on both."""
    took: list[list[float]] = [[] for _ in places]
    cpu: list[list[float]] = [[] for _ in places]
    # The first round is not counted, for Java's compiler's sake.
    for round_ in range(runs + 1):
        for number, place in list(enumerate(places))[:: 1 if round_ % 2 else -1]:
            cpu_before, began_at = place.broker.cpu_s(), time.monotonic()
            WORKLOADS[name](place)
            if round_ > 0:
                took[number].append(time.monotonic() - began_at)
                cpu[number].append(place.broker.cpu_s() - cpu_before)
    rows = places[0].rows
    theirs, mine = (rows / statistics.median(each) for each in took)
    print(f"| {name} | rows/s | {theirs:,.0f} | {mine:,.0f} | {mine / theirs:.2f} |", flush=True)
    their_us, my_us = (statistics.median(each) * 1e6 / rows for each in cpu)
    # A short run may take less processor time than the kernel counts.
    ratio = their_us / my_us if my_us else float("inf")
    print(f"| | broker CPU us/row | {their_us:.2f} | {my_us:.2f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
