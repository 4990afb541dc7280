"""One line per micro batch while a stream runs, and one when it fails.

    lake: batch 7, 12,000 rows, 31,400 rows/s, 0 offsets behind

Spark keeps the progress of the last hundred batches of each query; all that is new in there is
printed a few times a second.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql.streaming import StreamingQuery

from spark_jobs.options import DONE, FailedError, one_line

_PAUSE_S = 0.3

Progress = Mapping[str, Any]  # as Spark's JSON says


def follow(queries: Sequence[StreamingQuery]) -> int:
    """Print progress until all queries end; FailedError if one fails, and then all are stopped."""
    shown: dict[str, set[tuple[int, str]]] = {query.name: set() for query in queries}
    try:
        while any(query.isActive for query in queries):
            _show_new(queries, shown)
            _raise_failure(queries)
            time.sleep(_PAUSE_S)
        _show_new(queries, shown)
        _raise_failure(queries)
    finally:
        for query in queries:
            query.stop()
    return DONE


def _show_new(queries: Sequence[StreamingQuery], shown: dict[str, set[tuple[int, str]]]) -> None:
    for query in queries:
        for progress in query.recentProgress:
            mark = (progress["batchId"], progress["timestamp"])
            if mark not in shown[query.name]:
                shown[query.name].add(mark)
                if progress["numInputRows"] or late_rows(progress):
                    print(line_of(query.name, progress), flush=True)


def line_of(name: str, progress: Progress) -> str:
    """What people read about one micro batch."""
    rate = progress.get("processedRowsPerSecond") or 0.0
    parts = [
        f"{name}: batch {progress['batchId']}",
        f"{progress['numInputRows']:,} rows",
        f"{rate:,.0f} rows/s",
    ]
    behind = offsets_behind(progress)
    if behind is not None:
        parts.append(f"{behind:,} offsets behind")
    if progress.get("stateOperators"):
        parts.append(f"{late_rows(progress):,} late")
    for observed in (progress.get("observedMetrics") or {}).values():
        parts += [f"{count:,} {what.replace('_', ' ')}" for what, count in _counts(observed)]
    return ", ".join(parts)


def offsets_behind(progress: Progress) -> int | None:
    """How many offsets were still to be read at the end of the batch, if the source says."""
    metrics = [source.get("metrics") or {} for source in progress["sources"]]
    # The mean may be a fraction; what the furthest partition is behind is a whole number.
    found = [each["maxOffsetsBehindLatest"] for each in metrics if "maxOffsetsBehindLatest" in each]
    return max(int(each) for each in found) if found else None


def late_rows(progress: Progress) -> int:
    """How many updates came for windows that were closed already."""
    operators = progress.get("stateOperators") or []
    return sum(int(each.get("numRowsDroppedByWatermark", 0)) for each in operators)


def _counts(observed: Any) -> list[tuple[str, int]]:  # noqa: ANN401 - a Row or what it became
    values = observed.asDict() if hasattr(observed, "asDict") else dict(observed)
    return [(what, int(count or 0)) for what, count in values.items()]


def _raise_failure(queries: Sequence[StreamingQuery]) -> None:
    for query in queries:
        error = query.exception()
        if error is not None:
            raise FailedError(f"{query.name}: {_cause(error)}")


def _cause(error: PySparkException) -> str:
    """The innermost thing Kafka or Spark says, in one line."""
    return one_line(error)
