"""Joins a topic with a compacted reference topic; unmatched records become dead letters.

The reference is read as a table again for every micro batch, so a change of it shows in the next
one. Records are written at least once.
"""

import argparse
from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

from spark_jobs.enrich.transform import enriched, table
from spark_jobs.options import BadInputError, Parser, add_stream_options, end, job_parser, names
from spark_jobs.progress import follow
from spark_jobs.session import build_session
from spark_jobs.topics import check_topics, read_batch, read_stream, start_to_topics

JOB = "enrich"


def parser() -> Parser:
    """The command line of this job."""
    found = job_parser(JOB, __doc__)
    add_stream_options(found)
    found.add_argument("--topics", required=True, type=names, metavar="NAME[,...]")
    found.add_argument("--reference-topic", required=True, metavar="NAME", help="a compacted topic")
    found.add_argument("--to", required=True, metavar="NAME", help="where matched records go")
    found.add_argument("--dead-letter-topic", required=True, metavar="NAME")
    found.add_argument(
        "--key-path",
        metavar="PATH",
        help="what to look up, as $.customer (default: the record's key)",
    )
    return found


def start_stream(spark: SparkSession, options: argparse.Namespace) -> StreamingQuery:
    """Start the stream."""
    rows = enriched(
        read_stream(spark, options, options.topics),
        table(read_batch(spark, options, [options.reference_topic])),
        key_path=options.key_path,
        to=options.to,
        dead_letter_topic=options.dead_letter_topic,
    )
    return start_to_topics(rows, options, name=JOB)


def run(arguments: Sequence[str]) -> int:
    """Run until the stream ends; gives the exit code."""
    options = parser().parse_args(arguments)
    if options.key_path is not None and not options.key_path.startswith("$"):
        raise BadInputError(f"--key-path: {options.key_path} is no path such as $.customer")
    check_topics(options, [*options.topics, options.reference_topic])
    return follow([start_stream(build_session(JOB), options)])


if __name__ == "__main__":
    end(JOB, run)
