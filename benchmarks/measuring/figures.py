"""What runs came to: figures by name, medians and spread of several, and ratios.

A ratio is always kbroker's figure divided by Apache Kafka's. Figures whose name ends in "/s" are
rates, of which more is better; of all others (processor time, latency, memory, seconds) less is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

# A figure by its name: "records/s", "CPU s/M records", "p99 ms", ...
Figures = dict[str, float]

RECORDS_PER_S = "records/s"
REQUESTS_PER_S = "requests/s"
CPU_PER_RECORD = "CPU s/M records"
CPU_PER_REQUEST = "CPU us/request"
P50, P99, P999 = "p50 ms", "p99 ms", "p99.9 ms"
RESIDENT = "resident MB"
DISK_PER_RECORD = "disk bytes/record"
SECONDS = "seconds"


def more_is_better(name: str) -> bool:
    """Whether a figure is a rate."""
    return name.endswith("/s")


@dataclass(frozen=True)
class Spread:
    """The median of several runs, and the lowest and the highest of them."""

    median: float
    low: float
    high: float
    runs: int

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Of at least one value."""
        return cls(median(values), min(values), max(values), len(values))


def spreads(runs: Sequence[Figures]) -> dict[str, Spread]:
    """Each figure that every run has, over all runs."""
    names = [name for name in runs[0] if all(name in run for run in runs)]
    return {name: Spread.of([run[name] for run in runs]) for name in names}


def ratio(ours: float, theirs: float) -> float | None:
    """Ours by theirs; None where a short run took less than the kernel counts."""
    return ours / theirs if theirs else None


@dataclass(frozen=True)
class Goal:
    """What a figure should come to: a ratio to Apache Kafka's, a value of its own, or both."""

    ratio: float | None = None
    value: float | None = None

    def is_met(self, name: str, ours: float, ratio: float | None) -> bool:
        """Whether it does."""
        if self.value is not None and not _reaches(name, ours, self.value):
            return False
        return self.ratio is None or (ratio is not None and _reaches(name, ratio, self.ratio))

    def text(self, name: str) -> str:
        """As a table shows it."""
        sign = ">=" if more_is_better(name) else "<="
        parts = []
        if self.ratio is not None:
            parts.append(f"{sign} {self.ratio:g}")
        if self.value is not None:
            parts.append(f"kbroker {sign} {self.value:g}")
        return ", ".join(parts)


def _reaches(name: str, value: float, limit: float) -> bool:
    return value >= limit if more_is_better(name) else value <= limit


Goals = Mapping[str, Goal]


def number(value: float) -> str:
    """A figure for people: three digits that matter, thousands apart."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
