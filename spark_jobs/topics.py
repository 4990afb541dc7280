"""Topics, as Spark's connector reads and writes them, and checks before anything starts.

The checks use our own small client, so that a wrong name costs a moment and one line, not a Spark
session and a stack trace. It speaks plain Kafka; with `kafka.security.protocol` among the options
nothing is checked here and the connector finds out for itself.
"""

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from kbroker.client.cluster import Cluster
from kbroker.client.errors import BrokerError, ClientError
from kbroker.client.topics import create_topic, topic_settings
from kbroker.wire import ErrorCode
from spark_jobs.options import BadInputError, FailedError

_KAFKA = "kafka"
_SECURITY = "kafka.security.protocol"
_COMPACT = "compact"
# Somebody waits for the complaint.
_CHECK_TIMEOUT_S = 10.0

# Reading and writing


def read_stream(
    spark: SparkSession, options: argparse.Namespace, topics: Iterable[str]
) -> DataFrame:
    """The records of topics as a stream, as the options of `add_stream_options` say."""
    settings = reading(options, topics) | {
        "startingOffsets": options.starting_offsets,
        "failOnDataLoss": "false" if options.allow_data_loss else "true",
    }
    if options.max_offsets_per_trigger is not None:
        settings["maxOffsetsPerTrigger"] = str(options.max_offsets_per_trigger)
    return spark.readStream.format(_KAFKA).options(**(settings | dict(options.kafka_option))).load()


def read_batch(
    spark: SparkSession, options: argparse.Namespace, topics: Iterable[str], **more: str
) -> DataFrame:
    """The records that topics hold now, or between the offsets of ``more``."""
    settings = reading(options, topics) | more | dict(options.kafka_option)
    return spark.read.format(_KAFKA).options(**settings).load()


def reading(options: argparse.Namespace, topics: Iterable[str]) -> dict[str, str]:
    """What the connector must know to read; nobody wants records of aborted transactions."""
    return {
        "kafka.bootstrap.servers": options.bootstrap,
        "subscribe": ",".join(topics),
        "includeHeaders": "true",
        "kafka.isolation.level": "read_committed",
    }


def writing(options: argparse.Namespace) -> dict[str, str]:
    """What the connector must know to write; the topic is a column of the rows."""
    return {"kafka.bootstrap.servers": options.bootstrap} | dict(options.kafka_option)


def write_batch(rows: DataFrame, options: argparse.Namespace) -> None:
    """Write rows with the columns topic, key, value and headers."""
    rows.write.format(_KAFKA).options(**writing(options)).save()


def start_to_topics(
    rows: DataFrame, options: argparse.Namespace, *, name: str, output_mode: str = "append"
) -> StreamingQuery:
    """Start a stream into topics: at least once, as Spark's sink writes."""
    writer = rows.writeStream.format(_KAFKA).options(**writing(options)).outputMode(output_mode)
    return start(writer, options, name=name)


def start(writer: DataStreamWriter, options: argparse.Namespace, *, name: str) -> StreamingQuery:
    """Start a stream with its own folder in the checkpoint and the trigger that was asked for."""
    writer = writer.queryName(name).option("checkpointLocation", f"{options.checkpoint}/{name}")
    if options.once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{options.every} seconds").start()


# Checks


def check_topics(options: argparse.Namespace, topics: Iterable[str]) -> None:
    """Complain about the first topic that is not there."""
    with _checking(options) as cluster:
        if cluster is None:
            return
        for name in topics:
            try:
                cluster.topic(name)
            except BrokerError as error:
                raise BadInputError(str(error)) from None


def ensure_compacted(options: argparse.Namespace, name: str) -> None:
    """Create a topic with compaction, or complain if it is there and has none."""
    with _checking(options) as cluster:
        if cluster is None:
            return
        try:
            create_topic(cluster, name, configs={"cleanup.policy": _COMPACT})
        except BrokerError as error:
            if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
        if not is_compacted(cluster, name):
            raise BadInputError(f"{name}: the topic is not compacted (cleanup.policy=compact)")


def is_compacted(cluster: Cluster, name: str) -> bool:
    """Whether a topic's cleanup policy has compaction in it."""
    settings = {setting.name: setting.value for setting in topic_settings(cluster, name)}
    return _COMPACT in (settings.get("cleanup.policy") or "")


@contextmanager
def connect(options: argparse.Namespace) -> Iterator[Cluster]:
    """Our own client; what goes wrong with it becomes one line."""
    try:
        with Cluster(options.bootstrap, timeout_s=_CHECK_TIMEOUT_S) as cluster:
            yield cluster
    except ValueError as error:
        raise BadInputError(f"--bootstrap: {error}") from None
    except ClientError as error:
        raise FailedError(str(error)) from None


@contextmanager
def _checking(options: argparse.Namespace) -> Iterator[Cluster | None]:
    if _SECURITY in dict(options.kafka_option):
        yield None
        return
    with connect(options) as cluster:
        yield cluster
