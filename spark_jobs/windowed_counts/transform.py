"""Records to counts per key and window of event time, and those to upserts.

An upsert's key names the counted key and the window, so a compacted topic keeps the newest count of
each, and whoever reads it from the beginning has the table.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def events(records: DataFrame, key_path: str | None, time_path: str | None) -> DataFrame:
    """The key as text and the event's time, from the record itself or from paths in its JSON.

    A time in JSON is ISO 8601 or milliseconds since 1970; what is neither is null.
    """
    text = F.col("value").cast("string")
    key = F.col("key").cast("string") if key_path is None else F.get_json_object(text, key_path)
    time = F.col("timestamp") if time_path is None else _time(F.get_json_object(text, time_path))
    return records.select(key.alias("key"), time.alias("time"))


def _time(text: Column) -> Column:
    return F.coalesce(
        F.timestamp_millis(text.try_cast("bigint")),
        text.try_cast("timestamp"),
    )


def counts(rows: DataFrame, window: str, slide: str | None, watermark: str) -> DataFrame:
    """How many events each key has in each window.

    A window closes when an event comes that is later than its end by ``watermark``; what comes
    for it after that is late and not counted.
    """
    return (
        rows.where(F.col("time").isNotNull())
        .withWatermark("time", watermark)
        .groupBy(F.window("time", window, slide), F.col("key"))
        .count()
    )


def upserts(counted: DataFrame, topic: str) -> DataFrame:
    """Counts as records of the compacted topic: JSON keys and values."""
    named = [
        F.col("key"),
        _iso(F.col("window.start")).alias("window_start"),
        _iso(F.col("window.end")).alias("window_end"),
    ]
    # A null key is a key too, and must not make the JSON one without it.
    kept = {"ignoreNullFields": "false"}
    return counted.select(
        F.lit(topic).alias("topic"),
        F.to_json(F.struct(*named), kept).alias("key"),
        F.to_json(F.struct(*named, F.col("count")), kept).alias("value"),
    )


def _iso(time: Column) -> Column:
    return F.date_format(time, "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")
