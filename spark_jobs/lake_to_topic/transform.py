"""Rows of a lake, chosen by time, to records of a topic."""

from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType

from spark_jobs.dead_letters import HEADERS_TYPE, header, headers
from spark_jobs.lake_to_topic.slices import Slice

# The connector cannot set the timestamp of a record, so the old one travels here.
ORIGINAL_TIMESTAMP = "original-timestamp-ms"


class Columns(NamedTuple):
    """Which columns of the lake hold what."""

    key: str
    value: str
    time: str


def between(rows: DataFrame, time: str, from_ms: int | None, until_ms: int | None) -> DataFrame:
    """Rows from a time on and before another.

    If the lake is cut by date, whole folders are left out without a look at their files.
    """
    for edge_ms, is_start in ((from_ms, True), (until_ms, False)):
        if edge_ms is None:
            continue
        edge = F.timestamp_millis(F.lit(edge_ms))
        rows = rows.where(F.col(time) >= edge if is_start else F.col(time) < edge)
        if "date" in rows.columns and time == "timestamp":
            day = F.to_date(edge)
            rows = rows.where(F.col("date") >= day if is_start else F.col("date") <= day)
    return rows


def milliseconds(time: str) -> Column:
    """A time as Kafka counts it."""
    return F.unix_millis(F.col(time).cast("timestamp"))


def slice_of(rows: DataFrame, columns: Columns, part: Slice) -> DataFrame:
    """The rows of one slice."""
    found = between(rows, columns.time, part.from_ms, part.until_ms)
    if part.parts == 1:
        return found
    return found.where(F.pmod(F.xxhash64(columns.key), F.lit(part.parts)) == part.part)


def records(rows: DataFrame, columns: Columns, topic: str) -> DataFrame:
    """What the connector writes, in an order that keeps that of each key.

    One task writes all rows of a key, by time and, among equal times, by their old offset.
    """
    order = [columns.time, *(name for name in ("partition", "offset") if name in rows.columns)]
    own = headers() if "headers" in rows.columns else F.array().cast(HEADERS_TYPE)
    moment = header(ORIGINAL_TIMESTAMP, milliseconds(columns.time))
    return (
        rows.repartition(F.col(columns.key))
        .sortWithinPartitions(*order)
        .select(
            F.lit(topic).alias("topic"),
            _bytes_of(rows, columns.key).alias("key"),
            _bytes_of(rows, columns.value).alias("value"),
            F.concat(own, F.array(moment)).cast(HEADERS_TYPE).alias("headers"),
        )
    )


def _bytes_of(rows: DataFrame, name: str) -> Column:
    """Bytes and text as they are, all else as JSON."""
    kind = rows.schema[name].dataType
    if isinstance(kind, BinaryType | StringType):
        return F.col(name).cast("binary")
    if kind.typeName() in ("struct", "array", "map", "variant"):
        return F.to_json(name).cast("binary")
    return F.col(name).cast("string").cast("binary")
