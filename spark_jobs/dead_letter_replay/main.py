"""Puts dead letters back into their topics after a fix, and parks what failed too often.

The checkpoint remembers which letters were put back, so each run takes those that came since the
last. With --show it only counts them by reason and writes nothing.
"""

import argparse
from collections.abc import Sequence

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from spark_jobs.dead_letter_replay.transform import reasons, replayed
from spark_jobs.options import (
    DONE,
    BadInputError,
    FailedError,
    Parser,
    add_stream_options,
    end,
    job_parser,
    names,
    one_line,
    positive_integer,
)
from spark_jobs.progress import follow
from spark_jobs.session import build_session
from spark_jobs.topics import check_topics, read_batch, read_stream, start_to_topics

JOB = "dead_letter_replay"
_SHOWN_REASONS = 100


def parser() -> Parser:
    """The command line of this job."""
    found = job_parser(JOB, __doc__)
    add_stream_options(found)
    found.add_argument(
        "--topics", required=True, type=names, metavar="NAME[,...]", help="dead-letter topics"
    )
    found.add_argument("--parking-topic", required=True, metavar="NAME")
    found.add_argument(
        "--max-retries",
        type=positive_integer,
        default=3,
        metavar="N",
        help="how often a record is put back before it is parked (default: 3)",
    )
    found.add_argument(
        "--show", action="store_true", help="count all letters by reason, and write nothing"
    )
    return found


def start_stream(spark: SparkSession, options: argparse.Namespace) -> StreamingQuery:
    """Start the stream."""
    rows = replayed(
        read_stream(spark, options, options.topics),
        max_retries=options.max_retries,
        parking_topic=options.parking_topic,
    )
    return start_to_topics(rows, options, name=JOB)


def run(arguments: Sequence[str]) -> int:
    """Run until the stream ends, or show what is there; gives the exit code."""
    options = parser().parse_args(arguments)
    if options.parking_topic in options.topics:
        raise BadInputError("the parking topic is one of the topics that are read")
    check_topics(options, options.topics)
    spark = build_session(JOB)
    if not options.show:
        return follow([start_stream(spark, options)])
    try:
        reasons(read_batch(spark, options, options.topics)).show(_SHOWN_REASONS, truncate=False)
    except PySparkException as error:
        raise FailedError(one_line(error)) from None
    return DONE


if __name__ == "__main__":
    end(JOB, run)
