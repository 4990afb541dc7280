"""Client by version by scenario, against kbroker and Apache Kafka side by side.

    python -m compat_tests.matrix                              all, and docs/compatibility.md
    python -m compat_tests.matrix --clients sarama --scenarios 'transaction|static'

What cells a run finds is kept in .cache/compat, and docs/compatibility.md is written when all are
there, those that no run on this machine found taken from the page as it stands: so one client can
be tried again without the others. `make compat` forgets both first, with --anew. It ends with 1 if
a scenario fails on Apache Kafka (then the scenario is wrong), or fails on kbroker although it
passes on Apache Kafka and no FINDINGS.md explains it.
"""

import argparse
import json
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from compat_tests.brokers import APACHE_KAFKA, KBROKER, RunningBroker, running
from compat_tests.cells import FAIL, PASS, Cell, ClientOnBroker
from compat_tests.clients import PROGRAMS
from compat_tests.compatibility_page import PAGE, cells_told, page, summary
from compat_tests.program import ClientProgram
from compat_tests.scenarios import SCENARIOS, Scenario
from compat_tests.tool_checks import CHECKS, ToolCheck

_CELLS = Path(__file__).parents[1] / ".cache" / "compat"
_PRINTING = threading.Lock()


def cells_of(
    program: ClientProgram, scenarios: Sequence[Scenario], broker: RunningBroker, folder: Path
) -> list[Cell]:
    """All scenarios of one client against one broker, one after the other."""
    program.require()
    folder.mkdir()
    performer = ClientOnBroker(program, broker, folder)
    found = []
    try:
        for scenario in scenarios:
            cell = performer.cell(scenario)
            found.append(cell)
            _show(cell)
    finally:
        performer.close()
        keep(found)
    return found


def cells_of_tool(check: ToolCheck, broker: RunningBroker, folder: Path) -> list[Cell]:
    """One check of a tool, which is a client with one scenario."""
    began_at = time.monotonic()
    outcome, reason = PASS, ""
    try:
        check.run(broker.bootstrap, folder)
    except Exception as error:
        outcome, reason = FAIL, " ".join(f"{type(error).__name__}: {error}".split())[:1000]
    seconds = time.monotonic() - began_at
    cell = Cell(check.tool, check.name, broker.name, outcome, reason, seconds)
    keep([cell])
    _show(cell)
    return [cell]


def _show(cell: Cell) -> None:
    with _PRINTING:
        reason = f"  {cell.reason}" if cell.outcome == FAIL else ""
        sys.stdout.write(
            f"{cell.outcome:4} {cell.seconds:5.1f}s  {cell.broker:18} {cell.client:24} "
            f"{cell.scenario}{reason}\n"
        )
        sys.stdout.flush()


def run(
    programs: Sequence[ClientProgram],
    scenarios: Sequence[Scenario],
    checks: Sequence[ToolCheck],
    brokers: Sequence[str],
    *,
    jobs: int,
) -> list[Cell]:
    """Every cell; ``jobs`` clients work at a time."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="compat-")))
        started = []
        for name in brokers:
            (folder / name).mkdir()
            started.append(stack.enter_context(running(name, folder / name)))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        futures = [
            pool.submit(cells_of, program, scenarios, broker, folder / broker.name / program.label)
            for program in programs
            for broker in started
        ]
        futures += [
            pool.submit(cells_of_tool, check, broker, folder / broker.name / check.label)
            for check in checks
            for broker in started
        ]
        return [cell for future in futures for cell in future.result()]


def _file(client: str, broker: str) -> Path:
    return _CELLS / f"{client} on {broker}.json".replace(" ", "-")


def kept(client: str, broker: str) -> dict[str, Cell]:
    """What earlier runs found, by scenario."""
    if not _file(client, broker).exists():
        return {}
    cells = [Cell(**told) for told in json.loads(_file(client, broker).read_text())]
    return {cell.scenario: cell for cell in cells}


def keep(cells: Sequence[Cell]) -> None:
    """Put the cells of one client on one broker in the place of earlier ones."""
    client, broker = cells[0].client, cells[0].broker
    known = kept(client, broker) | {cell.scenario: cell for cell in cells}
    _CELLS.mkdir(parents=True, exist_ok=True)
    _file(client, broker).write_text(json.dumps([asdict(cell) for cell in known.values()]))


def write_page(*, anew: bool) -> None:
    """docs/compatibility.md, if every cell of it was found by some run."""
    earlier = [] if anew else cells_told(PAGE.read_text())
    told = {(cell.client, cell.scenario, cell.broker): cell for cell in earlier}
    cells = []
    wanted = [(program.label, each.name) for program in PROGRAMS for each in SCENARIOS]
    wanted += [(check.tool, check.name) for check in CHECKS]
    for client, scenario in wanted:
        for broker in (KBROKER, APACHE_KAFKA):
            found = kept(client, broker).get(scenario, told.get((client, scenario, broker)))
            if found is None:
                return
            cells.append(found)
    PAGE.write_text(page(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", default="", help="those whose name this pattern finds")
    parser.add_argument("--scenarios", default="", help="those whose name this pattern finds")
    parser.add_argument("--broker", choices=["kbroker", "apache"], help="only this one")
    parser.add_argument("--anew", action="store_true", help="forget the cells of other runs")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    programs = [each for each in PROGRAMS if re.search(options.clients, each.label)]
    scenarios = [each for each in SCENARIOS if re.search(options.scenarios, each.name)]
    brokers = [KBROKER, APACHE_KAFKA]
    if options.broker:
        brokers = [KBROKER if options.broker == "kbroker" else APACHE_KAFKA]
    if options.anew:
        shutil.rmtree(_CELLS, ignore_errors=True)
    checks = [
        each
        for each in CHECKS
        if re.search(options.clients, each.tool) and re.search(options.scenarios, each.name)
    ]
    cells = run(programs, scenarios, checks, brokers, jobs=options.jobs)
    write_page(anew=options.anew)
    sys.stdout.write(summary(cells))
    sys.exit(1 if any(cell.outcome == FAIL for cell in cells) else 0)


if __name__ == "__main__":
    main()
