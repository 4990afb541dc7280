"""docs/compatibility.md, and its summary, from the cells of a run; and the cells back from it."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from compat_tests.brokers import APACHE_KAFKA, KBROKER
from compat_tests.cells import FAIL, NOT_APPLICABLE, PASS, Cell
from compat_tests.clients import BY_LABEL
from compat_tests.scenarios import BY_NAME
from compat_tests.tool_checks import CHECKS

_BROKERS = (KBROKER, APACHE_KAFKA)
_MARKS = {PASS: "✓", FAIL: "✗", NOT_APPLICABLE: "n/a"}

PAGE = Path(__file__).parents[1] / "docs" / "compatibility.md"

_OPENING = f"""# Compatibility

Written by `make compat`, which lets every client go through the same scenarios against kbroker and
against {APACHE_KAFKA}, started with the same configs. A cell is **kbroker / Apache Kafka**: ✓
passes, ✗ fails, n/a is not applicable, because the client has no means for it; the reasons are
below.

"""


def page(cells: Sequence[Cell]) -> str:
    """The whole page."""
    parts = [_OPENING, "## Summary\n\n", _summary_table(cells), "\n## Scenarios\n"]
    tools = {check.tool for check in CHECKS}
    of_tools = [cell for cell in cells if cell.client in tools]
    cells = [cell for cell in cells if cell.client not in tools]
    clients = list(dict.fromkeys(cell.client for cell in cells))
    # A page is read on screens: six clients fit side by side.
    for first in range(0, len(clients), 6):
        parts += ["\n", _table(cells, clients[first : first + 6])]
    parts += ["\n## Tools\n\n", _tools_table(of_tools)]
    parts += ["\n## What the scenarios say\n\n"]
    for name in dict.fromkeys(cell.scenario for cell in cells):
        if name in BY_NAME:
            parts.append(f"- **{name}**: {BY_NAME[name].statement}\n")
    parts += ["\n## Not applicable\n\n", *_reasons(cells, NOT_APPLICABLE)]
    failing = list(_reasons([*cells, *of_tools], FAIL))
    if failing:
        parts += ["\n## Failing\n\n", *failing]
    return "".join(parts)


def cells_told(text: str) -> Iterator[Cell]:
    """The cells of a page, with the reasons that programs give today for what is not applicable.

    Cells that failed are left out: why they did is not to be guessed, so they are run again.
    """
    clients: list[str] = []
    for line in text.splitlines():
        first, *shown = [each.strip() for each in line.strip("|").split(" | ")]
        if first == "scenario":
            clients = shown
        elif not line.startswith("|"):
            clients = []
        elif first in BY_NAME:
            for client, marks in zip(clients, shown, strict=False):
                yield from _told(client, first, marks)
        for check in CHECKS:
            if first == f"{check.tool}, {check.name}":
                yield from _told(check.tool, check.name, shown[-1])


def _told(client: str, scenario: str, marks: str) -> Iterator[Cell]:
    for broker, mark in zip(_BROKERS, marks.split(" / "), strict=False):
        if mark == _MARKS[PASS]:
            yield Cell(client, scenario, broker, PASS)
    if marks == _MARKS[NOT_APPLICABLE] and client in BY_LABEL:
        reason = BY_LABEL[client].not_applicable.get(scenario)
        if reason is not None:
            for broker in _BROKERS:
                yield Cell(client, scenario, broker, NOT_APPLICABLE, reason)


def summary(cells: Sequence[Cell]) -> str:
    """For the end of a run: a line for each client, and each failure with its reason."""
    lines = ["\n", _summary_table(cells)]
    lines += [
        f"{cell.client}, {cell.scenario}, {cell.broker}: {cell.reason}\n"
        for cell in cells
        if cell.outcome == FAIL
    ]
    return "".join(lines)


def _summary_table(cells: Sequence[Cell]) -> str:
    lines = [
        "| client | kbroker passes | fails | Apache Kafka passes | fails | not applicable |\n",
        "|---|---|---|---|---|---|\n",
    ]
    for client in dict.fromkeys(cell.client for cell in cells):
        counts = [
            sum(
                1
                for cell in cells
                if (cell.client, cell.broker, cell.outcome) == (client, broker, outcome)
            )
            for broker, outcome in (
                (KBROKER, PASS),
                (KBROKER, FAIL),
                (APACHE_KAFKA, PASS),
                (APACHE_KAFKA, FAIL),
                (KBROKER, NOT_APPLICABLE),
            )
        ]
        lines.append(f"| {client} | " + " | ".join(map(str, counts)) + " |\n")
    return "".join(lines)


def _table(cells: Sequence[Cell], clients: Sequence[str]) -> str:
    outcomes = {(cell.client, cell.scenario, cell.broker): _MARKS[cell.outcome] for cell in cells}
    lines = ["| scenario | " + " | ".join(clients) + " |\n", "|---" * (len(clients) + 1) + "|\n"]
    for scenario in dict.fromkeys(cell.scenario for cell in cells):
        shown = [
            " / ".join(outcomes.get((client, scenario, broker), "") for broker in _BROKERS)
            for client in clients
        ]
        shown = ["n/a" if cell == "n/a / n/a" else cell for cell in shown]
        lines.append(f"| {scenario} | " + " | ".join(shown) + " |\n")
    return "".join(lines)


def _tools_table(cells: Sequence[Cell]) -> str:
    lines = ["| tool | what it does | kbroker / Apache Kafka |\n", "|---|---|---|\n"]
    for check in CHECKS:
        outcomes = {
            cell.broker: _MARKS[cell.outcome]
            for cell in cells
            if (cell.client, cell.scenario) == (check.tool, check.name)
        }
        shown = " / ".join(outcomes.get(broker, "") for broker in _BROKERS)
        lines.append(f"| {check.tool}, {check.name} | {check.statement} | {shown} |\n")
    return "".join(lines)


def _reasons(cells: Iterable[Cell], outcome: str) -> Iterable[str]:
    """One line for each client and reason, with all scenarios and brokers it holds for."""
    found: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.outcome == outcome:
            where = f" ({cell.broker})" if outcome == FAIL else ""
            names = found.setdefault((cell.client, cell.reason), [])
            if cell.scenario + where not in names:
                names.append(cell.scenario + where)
    for (client, reason), names in found.items():
        yield f"- {client}, {', '.join(names)}: {reason}\n"
