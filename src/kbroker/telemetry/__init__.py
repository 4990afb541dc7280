"""Counters and histograms that cores may touch without I/O.

meters       Counter and Gauge, one number each
histogram    Histogram, how often values of which size were seen
registry     Registry, every meter under its name and labels, and what a page shows of them
prometheus   render(), the text format that Prometheus scrapes
log_lines    get_logger(), events with fields as lines of text or JSON
"""

from kbroker.telemetry.histogram import Histogram, exponential_bounds
from kbroker.telemetry.meters import Counter, Gauge
from kbroker.telemetry.prometheus import render
from kbroker.telemetry.registry import Family, Kind, Labels, Meter, Registry, Sample

__all__ = [
    "Counter",
    "Gauge",
    "Histogram",
    "exponential_bounds",
    "Registry",
    "Family",
    "Kind",
    "Labels",
    "Meter",
    "Sample",
    "render",
]
