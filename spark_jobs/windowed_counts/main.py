"""Counts events per key and window of event time into a compacted topic.

Each micro batch upserts the windows that changed. Upserts are written at least once; a repeated one
says the same, so the table that the topic holds is exact. The lines of progress tell how many
updates came too late for their window, and how many records had no time.
"""

import argparse
from collections.abc import Sequence

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from spark_jobs.options import (
    BadInputError,
    Parser,
    add_stream_options,
    end,
    job_parser,
    names,
    one_line,
)
from spark_jobs.progress import follow
from spark_jobs.session import build_session
from spark_jobs.topics import check_topics, ensure_compacted, read_stream, start_to_topics
from spark_jobs.windowed_counts.transform import counts, events, upserts

JOB = "windowed_counts"


def parser() -> Parser:
    """The command line of this job."""
    found = job_parser(JOB, __doc__)
    add_stream_options(found)
    found.add_argument("--topics", required=True, type=names, metavar="NAME[,...]")
    found.add_argument(
        "--to", required=True, metavar="NAME", help="the compacted topic, made if there is none"
    )
    found.add_argument("--window", default="1 minute", help="its length (default: 1 minute)")
    found.add_argument("--slide", help="how often a window begins (default: its length)")
    found.add_argument(
        "--watermark",
        default="1 minute",
        help="how late an event may come after the latest one (default: 1 minute)",
    )
    found.add_argument(
        "--key-path", metavar="PATH", help="what to count by, as $.user (default: the record's key)"
    )
    found.add_argument(
        "--time-path",
        metavar="PATH",
        help="the event's time, as $.at (default: the record's timestamp)",
    )
    return found


def start_stream(spark: SparkSession, options: argparse.Namespace) -> StreamingQuery:
    """Start the stream; BadInputError if a length of time makes no sense to Spark."""
    records = read_stream(spark, options, options.topics)
    found = events(records, options.key_path, options.time_path).observe(
        "events", F.count_if(F.col("time").isNull()).alias("without_time")
    )
    try:
        counted = counts(found, options.window, options.slide, options.watermark)
    except PySparkException as error:
        raise BadInputError(one_line(error)) from None
    return start_to_topics(upserts(counted, options.to), options, name=JOB, output_mode="update")


def run(arguments: Sequence[str]) -> int:
    """Run until the stream ends; gives the exit code."""
    options = parser().parse_args(arguments)
    for path in (options.key_path, options.time_path):
        if path is not None and not path.startswith("$"):
            raise BadInputError(f"{path} is no path such as $.user")
    check_topics(options, options.topics)
    ensure_compacted(options, options.to)
    return follow([start_stream(build_session(JOB), options)])


if __name__ == "__main__":
    end(JOB, run)
