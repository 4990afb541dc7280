"""What Spark does to a broker: write and read a topic, as one batch and as a stream.

Rows have a key of a few bytes and a value of a hundred. Streams take what is there in several micro
batches and end. What is read goes nowhere, so that the source is measured and not a disk.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from benchmarks.measuring.side import RunningBroker
from benchmarks.measuring.topics import Topic, new_topic

PARTITIONS = 4
# Enough micro batches for what each costs to count, and large enough for rows to count too.
MICRO_BATCHES = 4
_KAFKA = "kafka"
_NOWHERE = "noop"


@dataclass(frozen=True)
class Place:
    """Where a workload runs: a session, a broker, and rows as Parquet files for streams to read."""

    spark: SparkSession
    broker: RunningBroker
    rows: int
    files: Path
    topic: Topic  # holds ``rows`` rows

    def source(self, **more: str) -> dict[str, str]:
        """Options to read the topic."""
        return {
            "kafka.bootstrap.servers": self.broker.bootstrap,
            "subscribe": self.topic.name,
            "startingOffsets": "earliest",
            **more,
        }


def sink(topic: Topic) -> dict[str, str]:
    """Options to write a topic."""
    return {"kafka.bootstrap.servers": topic.broker.bootstrap, "topic": topic.name}


def made_rows(spark: SparkSession, rows: int) -> DataFrame:
    """Keys and values out of thin air."""
    return spark.range(0, rows, 1, PARTITIONS).selectExpr(
        "CAST(id % 10000 AS STRING) AS key", "lpad(CAST(id AS STRING), 100, 'x') AS value"
    )


def write_files(spark: SparkSession, rows: int, folder: Path) -> None:
    """The same rows as files, one for each micro batch of a stream."""
    made_rows(spark, rows).coalesce(MICRO_BATCHES).write.parquet(str(folder))


def fill(spark: SparkSession, rows: int, topic: Topic) -> None:
    """Write rows in one batch."""
    made_rows(spark, rows).write.format(_KAFKA).options(**sink(topic)).save()


def write_batch(place: Place) -> None:
    """One batch write."""
    with new_topic(place.broker, PARTITIONS) as target:
        fill(place.spark, place.rows, target)


def read_batch(place: Place) -> None:
    """One batch read."""
    rows = place.spark.read.format(_KAFKA).options(**place.source()).load()
    rows.write.format(_NOWHERE).mode("overwrite").save()


def write_stream(place: Place) -> None:
    """A stream of files into a topic."""
    rows = (
        place.spark.readStream.schema("key STRING, value STRING")
        .option("maxFilesPerTrigger", "1")
        .parquet(str(place.files))
    )
    with new_topic(place.broker, PARTITIONS) as target:
        _run(rows, _KAFKA, sink(target))


def read_stream(place: Place) -> None:
    """A stream of a topic."""
    most = str(place.rows // MICRO_BATCHES)
    rows = place.spark.readStream.format(_KAFKA)
    _run(rows.options(**place.source(maxOffsetsPerTrigger=most)).load(), _NOWHERE, {})


def copy_stream(place: Place) -> None:
    """A stream of a topic into another."""
    most = str(place.rows // MICRO_BATCHES)
    rows = place.spark.readStream.format(_KAFKA)
    read = rows.options(**place.source(maxOffsetsPerTrigger=most)).load()
    with new_topic(place.broker, PARTITIONS) as target:
        _run(read.select("key", "value"), _KAFKA, sink(target))


def _run(rows: DataFrame, kind: str, options: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory(prefix="spark-bench-") as checkpoint:
        query = (
            rows.writeStream.format(kind)
            .options(**options)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()


WORKLOADS: dict[str, Callable[[Place], None]] = {
    "write, batch": write_batch,
    "read, batch": read_batch,
    "writeStream": write_stream,
    "readStream": read_stream,
    "topic to topic, streaming": copy_stream,
}
