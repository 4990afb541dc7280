"""Proves a topic: offsets dense or explained, order per key, duplicates, checksums, a group's lag.

The range that is audited is fixed first: from the beginning of each partition to its last stable
offset. The exit code is 0 if all is proven, and 1 if not.
"""

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kbroker.client.batches import read_batches
from kbroker.client.cluster import Cluster
from kbroker.client.group_offsets import committed_offsets
from kbroker.client.topics import EARLIEST, LATEST, READ_COMMITTED, list_offsets
from kbroker.model import TopicPartition
from spark_jobs.audit.gaps import Explanation, Range, explain
from spark_jobs.audit.transform import (
    checksums,
    duplicates,
    missing_ranges,
    out_of_order,
    report,
)
from spark_jobs.options import DONE, FAILED, FailedError, Parser, end, job_parser, one_line
from spark_jobs.session import build_session
from spark_jobs.topics import check_topics, connect, is_compacted, read_batch

JOB = "audit"

_BOUNDS = "partition INT, begin_offset BIGINT, end_offset BIGINT"
_GAPS = "partition INT, markers BIGINT, aborted BIGINT, compacted BIGINT, unexplained BIGINT"
_LAG = "partition INT, committed BIGINT, lag BIGINT"


class Bounds(NamedTuple):
    """The offsets of a partition that are audited: the first, and the one behind the last."""

    begin: int
    end: int


def parser() -> Parser:
    """The command line of this job."""
    found = job_parser(JOB, __doc__)
    found.add_argument("--topic", required=True, metavar="NAME")
    found.add_argument("--id-header", metavar="NAME", help="a header that is different everywhere")
    found.add_argument(
        "--sequence-header",
        metavar="NAME",
        help="a header with a number that never falls within a key (default: the timestamp)",
    )
    found.add_argument("--group", metavar="ID", help="a group whose lag to tell")
    found.add_argument("--report", metavar="PATH", help="where to add the report, as Parquet")
    return found


def audit(spark: SparkSession, options: argparse.Namespace) -> DataFrame:
    """The report: one row for each partition."""
    with connect(options) as cluster:
        bounds = _bounds(cluster, options.topic)
        wide = ", ".join(f"{each.end - each.begin:,}" for each in bounds.values())
        print(f"{JOB}: {len(bounds)} partitions with offsets to look at: {wide}", flush=True)
        # Read once, used by every check.
        records = _read(spark, options, bounds).persist()
        limits = spark.createDataFrame([(p, *each) for p, each in bounds.items()], _BOUNDS)
        missing = _ranges(missing_ranges(records, limits))
        print(f"{JOB}: {sum(map(len, missing.values())):,} gaps to explain", flush=True)
        explained = [
            (partition, found.markers, found.aborted, found.compacted, found.unexplained)
            for partition, found in _explain(cluster, options.topic, missing).items()
        ]
        findings = [
            checksums(records),
            spark.createDataFrame(explained, _GAPS),
            out_of_order(records, options.sequence_header),
        ]
        counted = ["records", "markers", "aborted", "compacted", "unexplained", "out_of_order"]
        if options.id_header is not None:
            findings.append(duplicates(records, options.id_header))
            counted.append("duplicates")
        if options.group is not None:
            findings.append(_lag(spark, cluster, options, bounds))
    rows = report(limits, findings, counted=tuple(counted))
    return rows.withColumn("topic", F.lit(options.topic)).withColumn(
        "audited_at", F.lit(datetime.now(UTC))
    )


def _bounds(cluster: Cluster, topic: str) -> dict[int, Bounds]:
    partitions = [each.partition_index for each in cluster.topic(topic).partitions]
    begins = list_offsets(cluster, topic, dict.fromkeys(partitions, EARLIEST))
    ends = list_offsets(
        cluster, topic, dict.fromkeys(partitions, LATEST), isolation_level=READ_COMMITTED
    )
    return {partition: Bounds(begins[partition], ends[partition]) for partition in partitions}


def _read(spark: SparkSession, options: argparse.Namespace, bounds: dict[int, Bounds]) -> DataFrame:
    def offsets(number: int) -> str:
        named = ", ".join(f'"{partition}": {each[number]}' for partition, each in bounds.items())
        return f'{{"{options.topic}": {{{named}}}}}'

    return read_batch(
        spark, options, [options.topic], startingOffsets=offsets(0), endingOffsets=offsets(1)
    )


def _ranges(rows: DataFrame) -> dict[int, list[Range]]:
    """The missing offsets by partition, in their order."""
    found: dict[int, list[Range]] = {}
    for row in rows.orderBy("partition", "first").collect():
        found.setdefault(row["partition"], []).append((row["first"], row["last"]))
    return found


def _explain(
    cluster: Cluster, topic: str, missing: dict[int, list[Range]]
) -> dict[int, Explanation]:
    compacted = is_compacted(cluster, topic)
    explained = {}
    for partition, ranges in missing.items():
        batches = read_batches(cluster, topic, partition, first=ranges[0][0], end=ranges[-1][1] + 1)
        explained[partition] = explain(ranges, batches, is_compacted=compacted)
    return explained


def _lag(
    spark: SparkSession,
    cluster: Cluster,
    options: argparse.Namespace,
    bounds: dict[int, Bounds],
) -> DataFrame:
    """How far the group is behind the end of what was audited; null where it has not committed."""
    committed = committed_offsets(cluster, options.group)
    rows = []
    for partition, each in bounds.items():
        offset = committed.get(TopicPartition(options.topic, partition))
        lag = None if offset is None else max(0, each.end - offset)
        rows.append((partition, offset, lag))
    return spark.createDataFrame(rows, _LAG)


def run(arguments: Sequence[str]) -> int:
    """Audit, print the report and store it; gives the exit code."""
    options = parser().parse_args(arguments)
    check_topics(options, [options.topic])
    try:
        rows = audit(build_session(JOB), options).persist()
        rows.drop("topic", "audited_at").show(1000, truncate=False)
        if options.report is not None:
            rows.write.mode("append").parquet(options.report)
        faulty = [row["partition"] for row in rows.where(~F.col("is_proven")).collect()]
    except PySparkException as error:
        raise FailedError(one_line(error)) from None
    if faulty:
        print(f"{JOB}: {options.topic} is not as it should be in partitions {faulty}", flush=True)
        return FAILED
    print(f"{JOB}: {options.topic} is proven", flush=True)
    return DONE


if __name__ == "__main__":
    end(JOB, run)
