"""Writes topics to partitioned Parquet, exactly once, and bad records to a dead-letter topic.

Two streams read the same topics, each with its own checkpoint. The lake's is exactly once over
restarts: Spark's file sink commits the files of a batch together with its number. Dead letters are
written at least once; their headers name the record, so that a repeated one can be told.
"""

import argparse
from collections.abc import Sequence

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
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
from spark_jobs.topic_to_lake.payloads import KINDS, payload_of
from spark_jobs.topic_to_lake.transform import PARTITION_COLUMNS, bad_records, lake_rows
from spark_jobs.topics import check_topics, read_stream, start, start_to_topics

JOB = "topic_to_lake"


def parser() -> Parser:
    """The command line of this job."""
    found = job_parser(JOB, __doc__)
    add_stream_options(found)
    found.add_argument("--topics", required=True, type=names, metavar="NAME[,...]")
    found.add_argument(
        "--lake", required=True, metavar="PATH", help="the root of the Parquet files"
    )
    found.add_argument(
        "--payload", choices=KINDS, default="json", help="what values are (default: json)"
    )
    schema = found.add_mutually_exclusive_group()
    schema.add_argument(
        "--schema", help="columns as in 'id BIGINT NOT NULL, name STRING', or Avro's JSON"
    )
    schema.add_argument("--schema-file", metavar="PATH", help="a file with the schema")
    found.add_argument("--dead-letter-topic", required=True, metavar="NAME")
    return found


def start_streams(spark: SparkSession, options: argparse.Namespace) -> list[StreamingQuery]:
    """Start both streams."""
    payload = payload_of(options.payload, _schema(spark, options))
    records = read_stream(spark, options, options.topics)
    lake = lake_rows(records, payload).writeStream.format("parquet").partitionBy(*PARTITION_COLUMNS)
    return [
        start(lake.option("path", options.lake), options, name="lake"),
        start_to_topics(
            bad_records(records, payload, options.dead_letter_topic), options, name="dead_letters"
        ),
    ]


def _schema(spark: SparkSession, options: argparse.Namespace) -> str | None:
    if options.schema_file is None:
        schema: str | None = options.schema
        return schema
    try:
        [row] = spark.read.text(options.schema_file, wholetext=True).collect()
    except (PySparkException, ValueError) as error:
        raise BadInputError(f"--schema-file: {one_line(error)}") from None
    text: str = row.value
    return text


def run(arguments: Sequence[str]) -> int:
    """Run until the streams end; gives the exit code."""
    options = parser().parse_args(arguments)
    if options.payload != "binary" and not (options.schema or options.schema_file):
        raise BadInputError(f"--payload {options.payload} needs --schema or --schema-file")
    check_topics(options, options.topics)
    return follow(start_streams(build_session(JOB), options))


if __name__ == "__main__":
    end(JOB, run)
