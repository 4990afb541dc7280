"""How often values of which size were seen, in a fixed number of integers.

A histogram keeps one counter per bucket and nothing per value. Bucket i counts
the values that are at most ``bounds[i]`` and above the bound before it; one
more bucket takes what exceeds the last bound. The bounds grow exponentially,
so the relative error of a quantile is the same for microseconds and minutes.

Values are whole numbers in one unit that the metric's name says, for instance
microseconds in ``request_us``.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate


def exponential_bounds(first: int, last: int, per_doubling: int) -> tuple[int, ...]:
    """Whole bounds from ``first`` up to at least ``last``, ``per_doubling`` for each factor of two.

    Small numbers round to the same bound more than once; each is kept once.
    """
    assert 0 < first < last
    assert per_doubling > 0
    bounds = {first}
    step = 0
    while max(bounds) < last:
        step += 1
        bounds.add(round(first * 2 ** (step / per_doubling)))
    return tuple(sorted(bounds))


# 1 us to more than an hour with 4 buckets for each doubling: a quantile is then off by less
# than 19 per cent, and one histogram costs about 1 KB.
LATENCY_BOUNDS_US = exponential_bounds(1, 3_600_000_000, 4)


class Histogram:
    """Counts of values by size, with their number, sum and maximum."""

    __slots__ = ("bounds", "buckets", "count", "maximum", "sum")

    def __init__(self, bounds: tuple[int, ...] = LATENCY_BOUNDS_US) -> None:
        self.bounds = bounds
        self.buckets = [0] * (len(bounds) + 1)
        self.count = 0
        self.sum = 0
        self.maximum = 0

    def record(self, value: int) -> None:
        """Count one value, which is not negative."""
        self.buckets[bisect_left(self.bounds, value)] += 1
        self.count += 1
        self.sum += value
        if value > self.maximum:
            self.maximum = value

    def merge(self, other: Histogram) -> None:
        """Add all that ``other`` has seen; both must have the same bounds."""
        assert self.bounds == other.bounds, "histograms of different bounds cannot be merged"
        self.buckets = [
            mine + theirs for mine, theirs in zip(self.buckets, other.buckets, strict=True)
        ]
        self.count += other.count
        self.sum += other.sum
        self.maximum = max(self.maximum, other.maximum)

    def quantile(self, fraction: float) -> float:
        """Estimate the value that ``fraction`` of all values do not exceed; 0.0 if there are none.

        Values are taken as evenly spread inside their bucket, so the estimate
        lies in the same bucket as the true value and never above the maximum.
        """
        assert 0.0 <= fraction <= 1.0
        rank = fraction * self.count
        below = 0
        for index, inside in enumerate(self.buckets):
            if inside and below + inside >= rank:
                lower = self.bounds[index - 1] if index else 0
                is_last = index == len(self.bounds)
                upper = self.maximum if is_last else min(self.bounds[index], self.maximum)
                return lower + (upper - lower) * (rank - below) / inside
            below += inside
        return 0.0

    def cumulative(self) -> list[int]:
        """For each bound, and last without bound, how many values do not exceed it."""
        return list(accumulate(self.buckets))
