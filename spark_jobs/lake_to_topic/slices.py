"""Cuts the time that is replayed into slices that are small enough for the rate.

A slice is written at once and then waited for, so its size is the longest burst. Where one moment
has more rows than a slice may hold, it is cut by key: all rows of a key stay in one part, and so in
their order.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

# More would be a heavy answer for the driver; the slices of a long replay get coarser instead.
MAX_BUCKETS = 10_000


class Bucket(NamedTuple):
    """The rows between two times."""

    from_ms: int
    until_ms: int
    rows: int


class Slice(NamedTuple):
    """Rows from a time until another, and of them those whose key falls into ``part``."""

    from_ms: int
    until_ms: int
    rows: int
    part: int = 0
    parts: int = 1


def bucket_width_ms(from_ms: int, until_ms: int) -> int:
    """How wide buckets must be for there to be few enough; whole milliseconds."""
    return max(1, -(-(until_ms - from_ms) // MAX_BUCKETS))


def slices(buckets: Iterable[Bucket], max_rows: int) -> Iterator[Slice]:
    """Neighbours together as long as they fit, and those that are too large in parts."""
    open_slice: Slice | None = None
    for bucket in sorted(buckets):
        if open_slice is not None and open_slice.rows + bucket.rows <= max_rows:
            open_slice = open_slice._replace(
                until_ms=bucket.until_ms, rows=open_slice.rows + bucket.rows
            )
            continue
        if open_slice is not None:
            yield from _parts(open_slice, max_rows)
        open_slice = Slice(bucket.from_ms, bucket.until_ms, bucket.rows)
    if open_slice is not None:
        yield from _parts(open_slice, max_rows)


def _parts(whole: Slice, max_rows: int) -> Iterator[Slice]:
    parts = -(-whole.rows // max_rows)
    for part in range(parts):
        # As even as keys allow; the sum is exact.
        rows = whole.rows * (part + 1) // parts - whole.rows * part // parts
        yield whole._replace(rows=rows, part=part, parts=parts)
