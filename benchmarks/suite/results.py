"""What was measured, kept as JSON: rows of a run take the place of older ones of the same name.

    {"runs": {"1": {"commit": ..., "machine": ..., ...}},
     "settings": {...},
     "rows": {NAME: {"group": ..., "run": "1", "figures": {FIGURE: {SIDE: {...}, "ratio": ...}},
                     "failures": {SIDE: TEXT}}}}

A row says which run it is of, so that a table of several runs is honest about it.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TypedDict

from benchmarks.measuring.figures import Goal, ratio
from benchmarks.measuring.side import KAFKA, KBROKER
from benchmarks.suite.rounds import Row


class SideJson(TypedDict):
    """A figure on one side."""

    median: float
    low: float
    high: float
    runs: int


class FigureJson(TypedDict):
    """One figure of a row: all sides, and how kbroker stands."""

    sides: dict[str, SideJson]
    ratio: float | None
    goal: str
    met: bool | None


class RowJson(TypedDict):
    """One workload."""

    group: str
    run: str
    figures: dict[str, FigureJson]
    failures: dict[str, str]


class Results(TypedDict):
    """The whole file."""

    settings: dict[str, str]
    runs: dict[str, dict[str, str]]
    rows: dict[str, RowJson]


def load(path: Path) -> Results:
    """What is there; nothing if the file is not."""
    if not path.exists():
        return {"settings": {}, "runs": {}, "rows": {}}
    found: Results = json.loads(path.read_text())
    return found


def save(path: Path, results: Results) -> None:
    """Write the file anew, without runs that no row is left of."""
    used = {row["run"] for row in results["rows"].values()}
    results["runs"] = {name: run for name, run in results["runs"].items() if name in used}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


def name_of(group: str, name: str) -> str:
    """Names are unique within their group."""
    return f"{group}: {name}"


def row_json(row: Row, run: str) -> RowJson:
    """A row as it is kept."""
    names = dict.fromkeys(name for side in row.sides.values() for name in side)
    return {
        "group": row.workload.group,
        "run": run,
        "figures": {name: _figure_json(row, name) for name in names},
        "failures": row.failures,
    }


def _figure_json(row: Row, name: str) -> FigureJson:
    sides: dict[str, SideJson] = {
        side: SideJson(**{key: _rounded(value) for key, value in asdict(found[name]).items()})  # type: ignore[typeddict-item]
        for side, found in row.sides.items()
        if name in found
    }
    ours, theirs = sides.get(KBROKER), sides.get(KAFKA)
    found_ratio = ratio(ours["median"], theirs["median"]) if ours and theirs else None
    goal: Goal | None = row.workload.goals.get(name)
    met = None
    if goal is not None:
        met = ours is not None and goal.is_met(name, ours["median"], found_ratio)
    return {
        "sides": sides,
        "ratio": None if found_ratio is None else _rounded(found_ratio),
        "goal": goal.text(name) if goal else "",
        "met": met,
    }


def _rounded(value: float) -> float:
    """Four digits that matter; more are noise."""
    return value if isinstance(value, int) else float(f"{value:.4g}")
