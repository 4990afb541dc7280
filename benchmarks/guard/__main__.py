"""Prints what requests cost beside the baseline; with ``--record``, makes it the baseline.

.venv/bin/python -m benchmarks.guard [--record]
"""

import argparse

from benchmarks.guard.baseline import load, record
from benchmarks.guard.sequences import count_all


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard")
    parser.add_argument("--record", action="store_true", help="write the baseline anew")
    arguments = parser.parse_args()
    counted = count_all()
    baseline = {} if arguments.record else load()
    print("| request | calls | baseline |\n|---|---:|---:|")
    for name, calls in counted.items():
        before = f"{baseline[name]:.0f}" if name in baseline else ""
        print(f"| {name} | {calls:.0f} | {before} |")
    if arguments.record:
        record(counted)


if __name__ == "__main__":
    main()
