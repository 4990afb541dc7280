"""One number each: how often something happened, or how much of it there is.

Both are bare attributes, so the hot path pays for one integer addition and
nothing else. There is no lock: a broker's loop is one thread, and what threads
count they hand back to the loop.
"""


class Counter:
    """A total that only grows; write ``counter.value += n``."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class Gauge:
    """A level that goes up and down; assign or add to ``gauge.value``."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: int | float = 0
