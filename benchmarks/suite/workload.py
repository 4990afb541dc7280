"""A workload: what is run on every broker in turn, and what it should come to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.measuring.figures import Figures, Goal
from benchmarks.measuring.side import RunningBroker, Side, kafka_side, kbroker_side, kfake_side


class Lab:
    """All that a suite run holds: the brokers, and figures that one workload needs of another."""

    def __init__(self) -> None:
        self.kafka = kafka_side()
        self.kbroker = kbroker_side()
        self.kfake = kfake_side()
        self._remembered: dict[str, float] = {}

    def remember(self, name: str, measure: Callable[[], float]) -> float:
        """A figure that is measured once, on first use."""
        if name not in self._remembered:
            self._remembered[name] = measure()
        return self._remembered[name]

    def close(self) -> None:
        """End all brokers."""
        for side in (self.kafka, self.kbroker, self.kfake):
            side.close()


# One run on one side; the number is 1 for a full run and less for a shorter one.
Run = Callable[[Lab, Side, float], Figures]


@dataclass(frozen=True)
class Workload:
    """One row of the table, with as many figures as its run gives.

    ``quick`` ones make up ``--quick``. ``rounds`` bounds the rounds of those that take long.
    Without ``warm_up`` there is no short run ahead, as where each run starts a broker anyway.
    """

    group: str
    name: str
    run: Run
    goals: Mapping[str, Goal] = field(default_factory=dict)
    quick: bool = False
    on_kfake: bool = False
    rounds: int = 99
    warm_up: bool = True


def on_shared(run: Callable[[RunningBroker, float], Figures]) -> Run:
    """A run that needs nothing but the broker that all share."""
    return lambda _lab, side, scale: run(side.shared(), scale)
