"""One cell of the table: a scenario, done by a client, against a broker."""

import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from compat_tests.brokers import RunningBroker
from compat_tests.program import ClientProgram, RunningProgram
from compat_tests.scenarios import Scenario
from compat_tests.scenarios.stage import Stage

PASS = "pass"
FAIL = "fail"
NOT_APPLICABLE = "n/a"


@dataclass(frozen=True, slots=True)
class Cell:
    """How it went; ``reason`` is for those that did not pass."""

    client: str
    scenario: str
    broker: str
    outcome: str
    reason: str = ""
    seconds: float = 0.0


class ClientOnBroker:
    """One client program that goes through scenarios; it is started again when it has hung."""

    def __init__(self, program: ClientProgram, broker: RunningBroker, folder: Path) -> None:
        self._program = program
        self._broker = broker
        self._folder = folder
        self._running: RunningProgram | None = None

    def perform(self, scenario: Scenario) -> None:
        """AssertionError or CompatError, with what the client said, if it does not hold."""
        if self._running is None or not self._running.is_running:
            self.close()
            self._running = RunningProgram(self._program, self._broker.bootstrap, self._folder)
        scenario.run(
            Stage(
                client=self._running,
                program=self._program,
                bootstrap=self._broker.bootstrap,
                name=f"compat-{uuid4().hex[:12]}",
                folder=self._folder,
                data_dir=self._broker.data_dir,
            )
        )

    def cell(self, scenario: Scenario) -> Cell:
        """How it goes, without raising."""
        told = (self._program.label, scenario.name, self._broker.name)
        if scenario.name in self._program.not_applicable:
            return Cell(*told, NOT_APPLICABLE, self._program.not_applicable[scenario.name])
        began_at = time.monotonic()
        try:
            self.perform(scenario)
        except Exception as error:
            line = traceback.extract_tb(error.__traceback__)[-1].line or ""
            reason = " ".join(f"{type(error).__name__}: {error} ({line})".split())
            return Cell(*told, FAIL, reason[:1000], time.monotonic() - began_at)
        return Cell(*told, PASS, seconds=time.monotonic() - began_at)

    def close(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None
