"""The results as a table, for the terminal and for docs/benchmarks."""

from collections.abc import Iterator

from benchmarks.measuring.figures import number
from benchmarks.measuring.side import KAFKA, KBROKER, KFAKE
from benchmarks.suite.results import FigureJson, Results, RowJson, SideJson

_OPENING = """\
Written by `make bench` (`python -m benchmarks.suite`). Figures are medians of the rounds, with the
lowest and the highest in brackets. The ratio is kbroker's figure divided by Kafka's: of rates
(`/s`) more is better, of everything else less. What each row does is told in
[benchmarks/suite](../../benchmarks/suite/README.md)."""
_HEADING = (
    "| workload | | Apache Kafka | kbroker | kfake | kbroker / Kafka | goal | met |\n"
    "|---|---|---:|---:|---:|---:|---|---|"
)


def page(results: Results) -> str:
    """A page in Markdown: what was measured where, and all rows by group."""
    lines = [
        "# kbroker beside Apache Kafka",
        "",
        _OPENING,
        "",
        "![ratios](ratios.svg)",
        "",
    ]
    for name, run in results["runs"].items():
        described = ", ".join(f"{key} {value}" for key, value in run.items())
        lines += [f"Run {name}: {described}.", ""]
    lines += [f"- {key}: {value}" for key, value in results["settings"].items()]
    for group in dict.fromkeys(row["group"] for row in results["rows"].values()):
        lines += ["", f"## {group}", "", _HEADING]
        for name, row in results["rows"].items():
            if row["group"] == group:
                lines += table_lines(name, row)
    lines += ["", "## goals", "", summary(results)]
    return "\n".join(lines) + "\n"


def table_lines(name: str, row: RowJson) -> Iterator[str]:
    """The lines of one row."""
    title = name.removeprefix(f"{row['group']}: ")
    for figure, found in row["figures"].items():
        cells = [title, figure, *_cells(found)]
        yield f"| {' | '.join(cells)} |"
        title = ""
    for side, words in row["failures"].items():
        yield f"| {title} | {side} failed: {words.replace('|', '/')} | | | | | | |"
        title = ""


def heading() -> str:
    """What stands above `table_lines`."""
    return _HEADING


def summary(results: Results) -> str:
    """How many goals are met, and which are not."""
    goals = [
        (name, figure, found)
        for name, row in results["rows"].items()
        for figure, found in row["figures"].items()
        if found["met"] is not None
    ]
    missed = [
        f"- {name}: {figure} {_ratio(found)}, goal {found['goal']}"
        for name, figure, found in goals
        if not found["met"]
    ]
    met = len(goals) - len(missed)
    return "\n".join([f"{met} of {len(goals)} goals are met.", "", *missed]).rstrip()


def _cells(found: FigureJson) -> list[str]:
    sides = found["sides"]
    met = {None: "", True: "yes", False: "**no**"}[found["met"]]
    kafka, kbroker, kfake = (_side(sides.get(name)) for name in (KAFKA, KBROKER, KFAKE))
    return [kafka, kbroker, kfake, _ratio(found), found["goal"], met]


def _side(side: SideJson | None) -> str:
    if side is None:
        return ""
    if side["runs"] == 1:
        return number(side["median"])
    return f"{number(side['median'])} ({number(side['low'])} to {number(side['high'])})"


def _ratio(found: FigureJson) -> str:
    return "" if found["ratio"] is None else f"{found['ratio']:.2f}"
