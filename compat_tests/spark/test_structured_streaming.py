"""Spark writes topics, reads them in batch, and streams them, both as a job and running on."""

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from compat_tests.broker_process import BrokerProcess
from compat_tests.client import Sent
from compat_tests.confluent_kafka.adapter import ConfluentAdmin, ConfluentClient
from compat_tests.spark import VERSION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

ROWS = 100_000
PARTITIONS = 4
KAFKA = "kafka"

# Spark's workers, gateways and files belong to its Java half; Python only sees them go.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(scope="module")
def written(spark: "SparkSession", broker: BrokerProcess) -> str:
    """A topic with ROWS rows that Spark wrote: the number as key, and a value made of it."""
    topic = "compat-spark-written"
    ConfluentAdmin(broker.bootstrap).create_topic(topic, partitions=PARTITIONS)
    rows = spark.range(ROWS).selectExpr(
        "CAST(id AS STRING) AS key",
        "concat('value ', id) AS value",
        "array(struct('batch' AS key, CAST('1' AS BINARY) AS value)) AS headers",
    )
    rows.write.format(KAFKA).options(**options(broker.bootstrap, topic)).save()
    return topic


def options(bootstrap: str, topic: str, **more: str) -> dict[str, str]:
    return {"kafka.bootstrap.servers": bootstrap, "topic": topic, **more}


def source(bootstrap: str, topic: str, **more: str) -> dict[str, str]:
    return {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
        **more,
    }


def numbers(frame: "DataFrame") -> list[int]:
    """The keys as numbers, and a look at every value: what it says must fit its key."""
    checked = frame.selectExpr(
        "CAST(CAST(key AS STRING) AS INT) AS number",
        "CAST(value AS STRING) = concat('value ', CAST(key AS STRING)) AS fits",
    ).collect()
    assert all(row.fits for row in checked)
    return sorted(row.number for row in checked)


def rows_in_memory(spark: "SparkSession", name: str) -> int:
    return spark.table(name).count()


def wait_for_rows(spark: "SparkSession", query: "StreamingQuery", count: int) -> None:
    """Until the memory sink holds ``count`` rows; fails with the query's own error."""
    deadline = time.monotonic() + 60
    while rows_in_memory(spark, query.name) < count:
        assert query.exception() is None, query.exception()
        assert time.monotonic() < deadline, f"{rows_in_memory(spark, query.name)} rows of {count}"
        time.sleep(0.2)


def test_this_is_the_pinned_version():
    assert pyspark.__version__ == VERSION


def test_a_batch_job_reads_every_row_once(spark: "SparkSession", bootstrap: str, written: str):
    frame = (
        spark.read.format(KAFKA).options(**source(bootstrap, written), includeHeaders="true").load()
    )

    assert numbers(frame) == list(range(ROWS))
    [headers] = frame.selectExpr("to_json(headers) AS headers").distinct().collect()
    assert headers.headers == '[{"key":"batch","value":"MQ=="}]'
    offsets = frame.groupBy("partition").agg({"offset": "max", "*": "count"}).collect()
    assert len(offsets) == PARTITIONS
    assert all(row["max(offset)"] == row["count(1)"] - 1 for row in offsets)


def test_a_batch_job_reads_between_offsets(spark: "SparkSession", bootstrap: str, written: str):
    """The first offset lies in the middle of a batch."""
    frame = (
        spark.read.format(KAFKA)
        .options(
            **source(bootstrap, written)
            | {
                "startingOffsets": f'{{"{written}":{{"0":101,"1":0,"2":0,"3":0}}}}',
                "endingOffsets": f'{{"{written}":{{"0":301,"1":0,"2":0,"3":0}}}}',
            }
        )
        .load()
    )

    offsets = sorted(row.offset for row in frame.select("offset").collect())
    assert offsets == list(range(101, 301))


def test_a_batch_job_reads_from_a_time_on(spark: "SparkSession", bootstrap: str, topic: str):
    first_ms = 1_600_000_000_000
    records = [Sent(b"a", timestamp_ms=first_ms + 1000 * n) for n in range(100)]
    ConfluentClient(bootstrap).produce(topic, records, compression="snappy")
    frame = (
        spark.read.format(KAFKA)
        .options(
            **{
                "kafka.bootstrap.servers": bootstrap,
                "subscribe": topic,
                "startingTimestamp": str(first_ms + 41_500),
            }
        )
        .load()
    )

    assert sorted(row.offset for row in frame.collect()) == list(range(42, 100))


def test_a_stream_that_ends_reads_every_row_once(
    spark: "SparkSession", bootstrap: str, written: str, tmp_path: Path
):
    """With a limit, so that it takes several micro batches, each with offsets of its own."""
    stream = (
        spark.readStream.format(KAFKA)
        .options(**source(bootstrap, written, maxOffsetsPerTrigger="40000"))
        .load()
    )
    query = (
        stream.writeStream.format("memory")
        .queryName("available_now")
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(90)

    assert numbers(spark.table("available_now")) == list(range(ROWS))
    assert len([each for each in query.recentProgress if each["numInputRows"]]) == 3


def test_a_running_stream_sees_rows_while_they_are_produced(
    spark: "SparkSession", bootstrap: str, topic: str, tmp_path: Path
):
    client = ConfluentClient(bootstrap)
    ConfluentAdmin(bootstrap).create_topic(topic, partitions=2)
    query = (
        spark.readStream.format(KAFKA)
        .options(**source(bootstrap, topic))
        .load()
        .writeStream.format("memory")
        .queryName("running")
        .option("checkpointLocation", str(tmp_path))
        .trigger(processingTime="200 milliseconds")
        .start()
    )

    def produce(first: int) -> None:
        records = [
            Sent(b"value %d" % n, b"%d" % n, partition=n % 2) for n in range(first, first + 500)
        ]
        client.produce(topic, records, compression="lz4")

    try:
        produce(0)
        wait_for_rows(spark, query, 500)
        producing = threading.Thread(target=lambda: [produce(500 * n) for n in range(1, 6)])
        producing.start()
        wait_for_rows(spark, query, 3000)
        producing.join()
    finally:
        query.stop()
    assert numbers(spark.table("running")) == list(range(3000))


def test_a_stream_writes_one_topic_into_another_and_goes_on_after_a_stop(
    spark: "SparkSession", bootstrap: str, topic: str, tmp_path: Path
):
    client = ConfluentClient(bootstrap)
    target = f"{topic}-copy"
    for name in (topic, target):
        ConfluentAdmin(bootstrap).create_topic(name)

    def copy() -> None:
        query = (
            spark.readStream.format(KAFKA)
            .options(**source(bootstrap, topic))
            .load()
            .select("key", "value")
            .writeStream.format(KAFKA)
            .options(**options(bootstrap, target))
            .option("checkpointLocation", str(tmp_path))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(60)

    client.produce(topic, [Sent(b"value %d" % n, b"%d" % n) for n in range(100)])
    copy()
    client.produce(topic, [Sent(b"value %d" % n, b"%d" % n) for n in range(100, 150)])
    copy()

    assert [record.key for record in client.consume(target, 150)] == [b"%d" % n for n in range(150)]
    assert client.watermarks(target) == (0, 150)
