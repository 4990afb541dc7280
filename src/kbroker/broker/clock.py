"""The broker's two clocks, read nowhere else.

``now`` is monotonic seconds, for deadlines; ``timestamp_ms`` is the wall clock, for records and
retention. They never mix. Everything below the broker takes them as arguments.
"""

import time

import trio


class Clock:
    """The real clocks; tests may hand the broker another one."""

    def now(self) -> float:
        """Monotonic seconds, on trio's clock, so that deadlines and sleeps agree."""
        return trio.current_time()

    def timestamp_ms(self) -> int:
        """Milliseconds since 1970, as records carry them."""
        return time.time_ns() // 1_000_000
