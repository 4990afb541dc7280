"""Every meter under its name and labels, and what a metrics page shows of them.

Whoever counts asks the registry once, at start or when a connection or a
partition appears, and then holds the meter itself: the hot path never looks
anything up. Asking again for the same name and labels gives the same meter.

The number of label combinations of one name is limited. A client that invents
names (topics, client ids) must not grow the broker's memory, so beyond the
limit the asker gets a meter that works and is shown nowhere.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from kbroker.telemetry.histogram import LATENCY_BOUNDS_US, Histogram
from kbroker.telemetry.meters import Counter, Gauge

# Sorted pairs, so that one combination has one spelling.
Labels = tuple[tuple[str, str], ...]
Meter = Counter | Gauge | Histogram
AnyMeter = TypeVar("AnyMeter", Counter, Gauge, Histogram)

# Room for the partitions of a large broker; a page of this many lines still renders in a second.
MAX_SERIES_PER_NAME = 10_000

_NAME = re.compile(r"[a-z][a-z0-9_]*")


class Kind(Enum):
    """What the meters of one name are, in the words of a metrics page."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of a metrics page."""

    name: str
    labels: Labels
    value: int | float


@dataclass(slots=True)
class Family:
    """All meters of one name; they differ in their labels only."""

    name: str
    kind: Kind
    documentation: str
    series: dict[Labels, Meter] = field(default_factory=dict)
    readings: dict[Labels, Callable[[], int | float]] = field(default_factory=dict)

    def samples(self) -> Iterator[Sample]:
        """What a page shows of this family now; a histogram gives several lines."""
        for labels, meter in self.series.items():
            if isinstance(meter, Histogram):
                yield from _histogram_samples(self.name, labels, meter)
            else:
                yield Sample(self.name, labels, meter.value)
        for labels, read in self.readings.items():
            yield Sample(self.name, labels, read())


class Registry:
    """The meters of one broker."""

    __slots__ = ("_families", "unlisted")

    def __init__(self) -> None:
        self._families: dict[str, Family] = {}
        self.unlisted = self.counter(
            "telemetry_unlisted_meters_total", "Meters left out because their name has too many."
        )

    def counter(self, name: str, documentation: str, /, **labels: str) -> Counter:
        """The counter of this name and these labels, made on first use."""
        return self._meter(name, documentation, labels, Kind.COUNTER, Counter())

    def gauge(self, name: str, documentation: str, /, **labels: str) -> Gauge:
        """The gauge of this name and these labels, made on first use."""
        return self._meter(name, documentation, labels, Kind.GAUGE, Gauge())

    def histogram(
        self,
        name: str,
        documentation: str,
        bounds: tuple[int, ...] = LATENCY_BOUNDS_US,
        /,
        **labels: str,
    ) -> Histogram:
        """The histogram of this name and these labels, made on first use."""
        meter = self._meter(name, documentation, labels, Kind.HISTOGRAM, Histogram(bounds))
        assert meter.bounds == bounds, f"{name} already has other bounds"
        return meter

    def reading(
        self, name: str, documentation: str, read: Callable[[], int | float], /, **labels: str
    ) -> None:
        """Show what ``read`` returns, called when a page is made; for numbers kept elsewhere."""
        self._family(name, documentation, Kind.GAUGE).readings[_spell(labels)] = read

    def forget(self, name: str, /, **labels: str) -> None:
        """Drop one combination of labels, for instance of a deleted topic; unknown ones are fine.

        Whoever still holds the meter may go on counting into the void.
        """
        family = self._families.get(name)
        if family is not None:
            family.series.pop(_spell(labels), None)
            family.readings.pop(_spell(labels), None)

    def families(self) -> Iterator[Family]:
        """Every family, in the order of names."""
        for _, family in sorted(self._families.items()):
            yield family

    def samples(self) -> Iterator[Sample]:
        """Every line of a metrics page, in the order of names."""
        for family in self.families():
            yield from family.samples()

    def _family(self, name: str, documentation: str, kind: Kind) -> Family:
        family = self._families.get(name)
        if family is None:
            assert _NAME.fullmatch(name), f"{name!r} is no name for a metric"
            family = self._families[name] = Family(name, kind, documentation)
        assert family.kind is kind, f"{name} is a {family.kind.value}"
        return family

    def _meter(
        self,
        name: str,
        documentation: str,
        labels: Mapping[str, str],
        kind: Kind,
        new: AnyMeter,
    ) -> AnyMeter:
        series = self._family(name, documentation, kind).series
        spelled = _spell(labels)
        known = series.get(spelled)
        if known is not None:
            assert isinstance(known, type(new))
            return known
        if len(series) >= MAX_SERIES_PER_NAME:
            self.unlisted.value += 1
        else:
            series[spelled] = new
        return new


def _spell(labels: Mapping[str, str]) -> Labels:
    return tuple(sorted(labels.items()))


def _histogram_samples(name: str, labels: Labels, histogram: Histogram) -> Iterator[Sample]:
    bounds = [*map(str, histogram.bounds), "+Inf"]
    for bound, count in zip(bounds, histogram.cumulative(), strict=True):
        yield Sample(f"{name}_bucket", (*labels, ("le", bound)), count)
    yield Sample(f"{name}_sum", labels, histogram.sum)
    yield Sample(f"{name}_count", labels, histogram.count)
