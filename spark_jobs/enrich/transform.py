"""The reference topic as a table, and the join with it."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.dead_letters import dead_letter_headers, headers


def table(reference: DataFrame) -> DataFrame:
    """The latest value of every key; a key whose latest record is a tombstone is gone.

    All records of a key are in one partition, where the highest offset is the latest. The time
    comes first for topics that were given more partitions, since that moves keys.
    """
    latest = F.max_by(F.col("value"), F.struct("timestamp", "offset"))
    found = F.max_by(F.col("value").isNotNull(), F.struct("timestamp", "offset"))
    return (
        reference.where(F.col("key").isNotNull())
        .groupBy(F.col("key").cast("string").alias("reference_key"))
        .agg(latest.alias("reference_value"), found.alias("is_there"))
        .where("is_there")
        .select("reference_key", "reference_value")
    )


def enriched(
    records: DataFrame,
    reference: DataFrame,
    *,
    key_path: str | None,
    to: str,
    dead_letter_topic: str,
) -> DataFrame:
    """What the connector writes: matched records to ``to``, the others to the dead letters.

    A match's value is the JSON {"value": its own, "reference": the table's}, both as they were.
    """
    text = F.col("value").cast("string")
    key = F.col("key").cast("string") if key_path is None else F.get_json_object(text, key_path)
    joined = records.withColumn("join_key", key).join(
        F.broadcast(reference), F.col("join_key") == F.col("reference_key"), "left"
    )
    own = F.try_parse_json(text)
    other = F.try_parse_json(F.col("reference_value").cast("string"))
    reason = F.coalesce(
        F.when(F.col("join_key").isNull(), F.lit("there is no key to look up")),
        F.when(
            F.col("reference_value").isNull(),
            F.concat(F.lit("the reference has no key "), F.col("join_key")),
        ),
        F.when(own.isNull(), F.lit("the value is not JSON")),
        F.when(other.isNull(), F.lit("the value of the reference is not JSON")),
    )
    is_good = F.col("reason").isNull()
    match = F.to_json(F.struct(own.alias("value"), other.alias("reference")))
    # One pass for both: the sink takes each row's topic from its column.
    return joined.withColumn("reason", reason).select(
        F.when(is_good, F.lit(to)).otherwise(F.lit(dead_letter_topic)).alias("topic"),
        F.col("key"),
        F.when(is_good, match.cast("binary")).otherwise(F.col("value")).alias("value"),
        F.when(is_good, headers()).otherwise(dead_letter_headers(F.col("reason"))).alias("headers"),
    )
