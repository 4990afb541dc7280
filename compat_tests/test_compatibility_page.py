"""docs/compatibility.md can be read back: one client can be run again without the others."""

from dataclasses import replace

from compat_tests.brokers import APACHE_KAFKA, KBROKER
from compat_tests.cells import FAIL, NOT_APPLICABLE, PASS, Cell
from compat_tests.clients import PROGRAMS
from compat_tests.compatibility_page import cells_told, page
from compat_tests.scenarios import SCENARIOS
from compat_tests.tool_checks import CHECKS

_BROKERS = (KBROKER, APACHE_KAFKA)


def _cells() -> list[Cell]:
    """Those of a run in which all went well."""
    cells = []
    for program in PROGRAMS:
        for scenario in SCENARIOS:
            reason = program.not_applicable.get(scenario.name, "")
            outcome = NOT_APPLICABLE if reason else PASS
            cells += [
                Cell(program.label, scenario.name, broker, outcome, reason) for broker in _BROKERS
            ]
    cells += [Cell(each.tool, each.name, broker, PASS) for each in CHECKS for broker in _BROKERS]
    return cells


def test_the_cells_of_a_page_are_read_back():
    assert set(cells_told(page(_cells()))) == set(_cells())


def test_a_cell_that_failed_is_not_read_back():
    [*others, last] = _cells()
    failed = replace(last, outcome=FAIL, reason="it burnt down")

    assert set(cells_told(page([*others, failed]))) == set(others)
