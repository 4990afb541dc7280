"""Runs a row: a warm-up on each broker, then rounds in turns, so that whatever else the machine
does hits all of them alike. A run during which a hypervisor gave much of the machine to others is
done again. One that fails is told in its row and does not end the suite.
"""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from benchmarks.measuring.figures import Figures, Spread, spreads
from benchmarks.measuring.side import KAFKA, KBROKER, KFAKE, RunningBroker, Side
from benchmarks.measuring.stolen import Stolen
from benchmarks.suite.produce import RawProduce, per_batch
from benchmarks.suite.workload import Lab, Workload

_WARM_UP = 0.3
# A run in which others had more than this share of the processors is done again, but not often: it
# may not get better, and then the figures say so themselves. Of all tries the quietest one counts.
_TOO_MUCH_STOLEN_PERCENT = 8.0
_TRIES = 3
STOLEN = "stolen %"
# Java's compiler needs a while until it has seen the paths that matter.
_FIRST_WARM_UP = (
    RawProduce(connections=10, seconds=6.0),
    RawProduce(records=per_batch(100), seconds=3.0),
)


@dataclass
class Row:
    """What a workload came to on each side; what went wrong, where something did."""

    workload: Workload
    sides: dict[str, dict[str, Spread]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)


class Rounds:
    """The rounds of all workloads of one run of the suite."""

    def __init__(self, lab: Lab, rounds: int, scale: float, say: Callable[[str], None]) -> None:
        self._lab = lab
        self._rounds = rounds
        self._scale = scale
        self._say = say
        self._warm: set[str] = set()

    def run(self, workload: Workload) -> Row:
        """All rounds of one workload."""
        row = Row(workload)
        sides = {KAFKA: self._lab.kafka, KBROKER: self._lab.kbroker}
        if workload.on_kfake:
            sides[KFAKE] = self._lab.kfake
        runs: dict[str, list[Figures]] = {name: [] for name in sides}
        if workload.warm_up:
            for name, side in sides.items():
                self._attempt(row, name, partial(self._warm_up, workload, side))
        turns = list(sides.items())
        for _ in range(min(self._rounds, workload.rounds)):
            for name, side in turns:
                run = partial(self._quiet_run, workload, side)
                found = self._attempt(row, name, run)
                if found is not None:
                    runs[name].append(found)
            turns.reverse()  # Whoever comes second may have to live with what the first left.
        row.sides = {name: spreads(found) for name, found in runs.items() if found}
        return row

    def _attempt(self, row: Row, side: str, work: Callable[[], Figures]) -> Figures | None:
        """The figures of one run; None if it fails, or failed before on this side."""
        if side in row.failures:
            return None
        try:
            return work()
        except Exception as error:  # whatever it is, it belongs into the row
            # Programs say at the end what they died of.
            *_, last = f"{type(error).__name__}: {error}".strip().splitlines()
            row.failures[side] = last[:300]
            self._say(traceback.format_exc(limit=-3))
            return None

    def _quiet_run(self, workload: Workload, side: Side) -> Figures:
        tries: list[Figures] = []
        for _ in range(_TRIES):
            stolen = Stolen()
            found = workload.run(self._lab, side, self._scale)
            tries.append({**found, STOLEN: stolen.percent()})
            if tries[-1][STOLEN] <= _TOO_MUCH_STOLEN_PERCENT:
                break
        return min(tries, key=lambda figures: figures[STOLEN])

    def _warm_up(self, workload: Workload, side: Side) -> Figures:
        if side.name not in self._warm:
            self._warm.add(side.name)
            _warm_up_for_all(side.shared(), _FIRST_WARM_UP)
        return workload.run(self._lab, side, self._scale * _WARM_UP)


def _warm_up_for_all(broker: RunningBroker, loads: Sequence[RawProduce]) -> None:
    for load in loads:
        load.run(broker, 1.0)
