"""Every client program goes through the scenarios that fit the time of `make test`.

All scenarios against both brokers are run by `make compat` (see ``matrix``).

    pytest compat_tests/test_scenarios.py -k 'sarama and by'
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from compat_tests.broker_process import BrokerProcess
from compat_tests.brokers import KBROKER, RunningBroker
from compat_tests.cells import ClientOnBroker
from compat_tests.clients import PROGRAMS
from compat_tests.program import ClientProgram
from compat_tests.scenarios import OF_MEMBERS, SCENARIOS, Scenario

# Members that join, leave and are killed take a quarter of a minute: each client shows what it
# does best, and static members are tried with those that differ most.
_BEST_KINDS = ("group: KIP-848", "group: cooperative", "group: eager")
_STATIC = ("confluent-kafka 2.16.1", "Java 4.4.0", "Sarama 1.61.1")


def _is_chosen(program: ClientProgram, scenario: Scenario) -> bool:
    if scenario.name in program.not_applicable:
        return False
    if scenario.name not in OF_MEMBERS:
        return True
    if scenario.name in _BEST_KINDS:
        kinds = [kind for kind in _BEST_KINDS if kind not in program.not_applicable]
        return scenario.name == kinds[0]
    return scenario.name == "static member" and program.label in _STATIC


_CHOSEN = [
    pytest.param(
        program,
        scenario,
        id=f"{program.label}: {scenario.name}",
        marks=pytest.mark.xdist_group(program.label),
    )
    for program in PROGRAMS
    for scenario in SCENARIOS
    if _is_chosen(program, scenario)
]


@pytest.fixture(scope="session")
def performers(
    broker: BrokerProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, ClientOnBroker]]:
    """Programs by their label; each is started once, when it is first wanted."""
    on_stage = RunningBroker(KBROKER, broker.bootstrap, broker.data_dir)
    found = {
        program.label: ClientOnBroker(program, on_stage, tmp_path_factory.mktemp("program"))
        for program in PROGRAMS
    }
    yield found
    for performer in found.values():
        performer.close()


@pytest.mark.parametrize(("program", "scenario"), _CHOSEN)
def test_a_client_does_what_the_scenario_says(
    broker: BrokerProcess,
    performers: dict[str, ClientOnBroker],
    program: ClientProgram,
    scenario: Scenario,
):
    performers[program.label].perform(scenario)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.label)
def test_a_folder_tells_how_to_run_its_client_and_what_was_found(program: ClientProgram):
    folder = Path(__file__).parent / program.folder
    known = {scenario.name for scenario in SCENARIOS}

    assert "matrix --clients" in (folder / "README.md").read_text()
    assert (folder / "FINDINGS.md").read_text().strip()
    assert set(program.not_applicable) <= known
