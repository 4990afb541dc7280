"""Runs the suite and keeps what it finds.

    .venv/bin/python -m benchmarks.suite [--only TEXT ...] [--rounds 3] [--quick] [--missing]

Rows are written as they come, to the terminal and into the folder of results, where they take the
place of older ones: a run that was broken off goes on with ``--missing``, and a single group can
be measured again with ``--only``.
"""

import argparse
import resource
import signal
import sys
import time
from pathlib import Path

from benchmarks.measuring.processes import ROOT
from benchmarks.suite import (
    compaction,
    connections,
    consume,
    latency,
    produce,
    small_requests,
    starting,
    tls,
    transactions,
)
from benchmarks.suite.chart import chart
from benchmarks.suite.machine import SETTINGS, commit, description
from benchmarks.suite.report import heading, page, summary, table_lines
from benchmarks.suite.results import Results, load, name_of, row_json, save
from benchmarks.suite.rounds import Rounds
from benchmarks.suite.workload import Lab, Workload

WORKLOADS = [
    *produce.WORKLOADS,
    *consume.WORKLOADS,
    *latency.WORKLOADS,
    *connections.WORKLOADS,
    *small_requests.WORKLOADS,
    *transactions.WORKLOADS,
    starting.MEMORY,
    *starting.WORKLOADS,
    *compaction.WORKLOADS,
    # The last ones: their brokers stay until the end.
    *tls.WORKLOADS,
]
_QUICK_ROUNDS, _QUICK_SCALE = 2, 0.6


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    folder = Path(arguments.output)
    results = load(folder / "results.json")
    chosen = _chosen(arguments, results)
    if arguments.list:
        print("\n".join(name_of(each.group, each.name) for each in chosen))
        return
    _raise_file_limit()
    # Whoever ends the suite ends its brokers too.
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit("told to stop"))
    rounds = arguments.rounds or (_QUICK_ROUNDS if arguments.quick else 3)
    run = _new_run(results)
    results["runs"][run] = description() | {"rounds": str(rounds)}
    results["settings"] = SETTINGS
    lab = Lab()
    scale = arguments.scale or (_QUICK_SCALE if arguments.quick else 1.0)
    rounds_of = Rounds(lab, rounds, scale, lambda text: print(text, flush=True))
    print(heading(), flush=True)
    began_at = time.monotonic()
    try:
        for workload in chosen:
            name = name_of(workload.group, workload.name)
            results["rows"][name] = row_json(rounds_of.run(workload), run)
            print("\n".join(table_lines(name, results["rows"][name])), flush=True)
            _keep(folder, results)
    finally:
        lab.close()
    print(f"\n{summary(results)}\n{time.monotonic() - began_at:.0f} s; written to {folder}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suite")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="TEXT", help="groups, or parts of names of rows"
    )
    parser.add_argument("--rounds", type=int, default=0, help="runs on each broker (3; quick: 2)")
    parser.add_argument("--scale", type=float, default=0.0, help="length of runs (1; quick: 0.6)")
    parser.add_argument("--quick", action="store_true", help="rows with goals only, shorter runs")
    parser.add_argument(
        "--missing", action="store_true", help="rows that were not measured at this commit"
    )
    parser.add_argument("--list", action="store_true", help="say which rows would be measured")
    parser.add_argument(
        "--output", default=str(ROOT / "docs" / "benchmarks"), help="the folder of results"
    )
    return parser.parse_args()


def _chosen(arguments: argparse.Namespace, results: Results) -> list[Workload]:
    """The rows that were asked for; ValueError if a word names none."""
    here = commit()
    chosen = []
    for each in WORKLOADS:
        name = name_of(each.group, each.name)
        if arguments.only and not any(
            word == each.group or (word not in _groups() and word in name)
            for word in arguments.only
        ):
            continue
        if arguments.quick and not each.quick:
            continue
        if arguments.missing and _is_measured(results, name, here):
            continue
        chosen.append(each)
    if not chosen and not arguments.missing:
        raise SystemExit(f"no row is called so; groups are {', '.join(_groups())}")
    return chosen


def _is_measured(results: Results, name: str, here: str) -> bool:
    """Whether a row was measured at this commit, and nothing went wrong."""
    row = results["rows"].get(name)
    if row is None or row["failures"]:
        return False
    return results["runs"][row["run"]]["commit"] == here


def _groups() -> list[str]:
    return list(dict.fromkeys(each.group for each in WORKLOADS))


def _new_run(results: Results) -> str:
    return str(max((int(name) for name in results["runs"]), default=0) + 1)


def _keep(folder: Path, results: Results) -> None:
    """JSON, table and picture, in the order of the suite."""
    order = [name_of(each.group, each.name) for each in WORKLOADS]
    rows = results["rows"]
    # A row that the suite does not have any more goes away.
    results["rows"] = {name: rows[name] for name in order if name in rows}
    save(folder / "results.json", results)
    (folder / "README.md").write_text(page(results))
    (folder / "ratios.svg").write_text(chart(results))


def _raise_file_limit() -> None:
    """Ten thousand connections need as many files; brokers inherit the limit."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    main()
