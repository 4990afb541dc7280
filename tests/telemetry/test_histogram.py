from bisect import bisect_left
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.telemetry import Histogram, exponential_bounds

BOUNDS = exponential_bounds(1, 1_000_000, 4)
VALUES = st.lists(st.integers(0, 10_000_000), max_size=300)


def filled(values, bounds=BOUNDS):
    histogram = Histogram(bounds)
    for value in values:
        histogram.record(value)
    return histogram


def test_bounds_grow_exponentially_and_reach_the_last():
    assert exponential_bounds(1, 64, 1) == (1, 2, 4, 8, 16, 32, 64)
    bounds = BOUNDS
    assert bounds[:6] == (1, 2, 3, 4, 5, 6)
    assert bounds[-1] >= 1_000_000
    assert max(b / a for a, b in pairwise(bounds[20:])) < 1.2


def test_a_value_on_a_bound_belongs_below_it():
    histogram = filled([1, 2, 3, 64, 65], exponential_bounds(1, 64, 1))

    assert histogram.buckets == [1, 1, 1, 0, 0, 0, 1, 1]
    assert histogram.cumulative() == [1, 2, 3, 3, 3, 3, 4, 5]


def test_an_empty_histogram_has_quantile_zero():
    assert Histogram().quantile(0.99) == 0.0


@given(VALUES)
def test_count_sum_and_maximum_are_exact(values):
    histogram = filled(values)

    assert (histogram.count, histogram.sum) == (len(values), sum(values))
    assert histogram.maximum == max(values, default=0)
    assert sum(histogram.buckets) == len(values)


@given(VALUES.filter(bool), st.floats(0.0, 1.0))
def test_a_quantile_lies_in_the_bucket_of_the_true_value(values, fraction):
    histogram = filled(values)
    estimate = histogram.quantile(fraction)
    rank = max(1, -int(-fraction * len(values) // 1))
    true_value = sorted(values)[rank - 1]
    index = bisect_left(histogram.bounds, true_value)
    lower = histogram.bounds[index - 1] if index else 0
    upper = histogram.bounds[index] if index < len(histogram.bounds) else histogram.maximum

    assert lower <= estimate <= min(upper, histogram.maximum)


@given(VALUES, VALUES)
def test_merging_is_recording_both(first, second):
    merged = filled(first)
    merged.merge(filled(second))
    both = filled(first + second)

    assert merged.buckets == both.buckets
    assert (merged.count, merged.sum, merged.maximum) == (both.count, both.sum, both.maximum)


def test_histograms_of_different_bounds_do_not_merge():
    with pytest.raises(AssertionError, match="different bounds"):
        filled([]).merge(filled([], (1, 2)))
