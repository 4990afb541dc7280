"""Replays Parquet into a topic: keyed, at a bounded rate, from and until a time.

Rows go out in slices of time, oldest first, and after each the job waits until the rate allows the
next. The line after a slice says how to go on from there if the job is interrupted.
"""

import argparse
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_jobs.lake_to_topic.slices import Bucket, Slice, bucket_width_ms, slices
from spark_jobs.lake_to_topic.transform import Columns, between, milliseconds, records, slice_of
from spark_jobs.options import (
    DONE,
    BadInputError,
    FailedError,
    Parser,
    end,
    instant,
    job_parser,
    one_line,
    positive_number,
)
from spark_jobs.session import build_session
from spark_jobs.topics import check_topics, write_batch

JOB = "lake_to_topic"
_TIMES = ("timestamp", "timestamp_ntz", "date")


def parser() -> Parser:
    """The command line of this job."""
    found = job_parser(JOB, __doc__)
    found.add_argument(
        "--lake", required=True, metavar="PATH", help="the root of the Parquet files"
    )
    found.add_argument("--topic", required=True, metavar="NAME", help="where the rows go")
    found.add_argument("--from-topic", metavar="NAME", help="only rows that came from this topic")
    found.add_argument("--from", dest="start", type=instant, metavar="TIME", help="oldest row")
    found.add_argument("--until", type=instant, metavar="TIME", help="all rows are older than this")
    found.add_argument(
        "--rate", type=positive_number, default=10_000.0, help="rows per second (default: 10000)"
    )
    found.add_argument(
        "--slice-seconds",
        type=positive_number,
        default=5.0,
        help="the longest burst, in seconds of the rate (default: 5)",
    )
    found.add_argument("--key-column", default="key", metavar="NAME")
    found.add_argument("--value-column", default="value", metavar="NAME")
    found.add_argument("--time-column", default="timestamp", metavar="NAME")
    return found


def chosen(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """The rows to replay; BadInputError if there is no such lake or column."""
    try:
        rows = spark.read.parquet(options.lake)
    except PySparkException as error:
        raise BadInputError(f"--lake: {one_line(error)}") from None
    for name in (options.key_column, options.value_column, options.time_column):
        if name not in rows.columns:
            raise BadInputError(f"the lake has no column {name}, only {', '.join(rows.columns)}")
    kind = rows.schema[options.time_column].dataType.typeName()
    if kind not in _TIMES:
        raise BadInputError(f"the column {options.time_column} is no time but {kind}")
    if options.from_topic is not None:
        if "topic" not in rows.columns:
            raise BadInputError("--from-topic: the lake has no column topic")
        rows = rows.where(F.col("topic") == options.from_topic)
    return between(rows, options.time_column, _ms(options.start), _ms(options.until))


def replay(rows: DataFrame, options: argparse.Namespace) -> int:
    """Write all slices at the rate; gives how many rows that were."""
    columns = Columns(options.key_column, options.value_column, options.time_column)
    began_at = time.monotonic()
    sent = 0
    for part in _plan(rows, options):
        write_batch(records(slice_of(rows, columns, part), columns, options.topic), options)
        sent += part.rows
        until = datetime.fromtimestamp(part.until_ms / 1000, UTC).isoformat()
        took_s = time.monotonic() - began_at
        resume = "" if part.part + 1 < part.parts else f", to go on from here: --from {until}"
        print(f"{JOB}: {sent:,} rows, {sent / took_s:,.0f} rows/s{resume}", flush=True)
        time.sleep(max(0.0, sent / options.rate - took_s))
    return sent


def _plan(rows: DataFrame, options: argparse.Namespace) -> list[Slice]:
    """The slices, from a count of rows over time."""
    moment = milliseconds(options.time_column)
    edges = rows.agg(F.min(moment).alias("first"), F.max(moment).alias("last")).first()
    if edges is None or edges["first"] is None:
        return []
    width_ms = bucket_width_ms(edges["first"], edges["last"] + 1)
    counted = rows.groupBy(F.floor(moment / width_ms).alias("bucket")).count().collect()
    buckets = [
        Bucket(row["bucket"] * width_ms, (row["bucket"] + 1) * width_ms, row["count"])
        for row in counted
        if row["bucket"] is not None
    ]
    return list(slices(buckets, max(1, int(options.rate * options.slice_seconds))))


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)


def run(arguments: Sequence[str]) -> int:
    """Replay; gives the exit code."""
    options = parser().parse_args(arguments)
    if options.start and options.until and options.start >= options.until:
        raise BadInputError("--from is not before --until")
    check_topics(options, [options.topic])
    try:
        sent = replay(chosen(build_session(JOB), options), options)
    except PySparkException as error:
        raise FailedError(one_line(error)) from None
    print(f"{JOB}: done, {sent:,} rows", flush=True)
    return DONE


if __name__ == "__main__":
    end(JOB, run)
