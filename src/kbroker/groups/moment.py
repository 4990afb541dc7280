"""One moment on both clocks."""

from typing import NamedTuple


class Moment(NamedTuple):
    """When something happens: deadlines count from ``now``, records carry ``now_ms``."""

    now: float
    """Monotonic seconds."""
    now_ms: int
    """Wall clock milliseconds, as in the timestamps of records."""
