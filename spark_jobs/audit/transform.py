"""What can be said of a topic's records by looking at all of them.

All functions take the records as the connector reads them (committed ones alone), and ``bounds``:
partition, begin_offset and end_offset, the range that was read. Each gives rows by partition.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from spark_jobs.dead_letters import header_text


def missing_ranges(records: DataFrame, bounds: DataFrame) -> DataFrame:
    """The offsets between the bounds that no record has: partition, first, last (inclusive)."""
    # The bounds as offsets around the range, so that both ends are like every other gap.
    fence = bounds.select("partition", (F.col("begin_offset") - 1).alias("offset")).union(
        bounds.select("partition", F.col("end_offset").alias("offset"))
    )
    before = F.lag("offset").over(Window.partitionBy("partition").orderBy("offset"))
    return (
        records.select("partition", "offset")
        .union(fence)
        .withColumn("before", before)
        .where(F.col("offset") > F.col("before") + 1)
        .select(
            "partition",
            (F.col("before") + 1).alias("first"),
            (F.col("offset") - 1).alias("last"),
        )
    )


def out_of_order(records: DataFrame, sequence_header: str | None) -> DataFrame:
    """How many records of a key come after one with a later time, or a higher number.

    The number is that of a header, where producers write one; records without it are left out.
    Equal ones are in order.
    """
    rank = (
        F.unix_micros("timestamp")
        if sequence_header is None
        else header_text(sequence_header).try_cast("bigint")
    )
    earlier = Window.partitionBy("partition", "key").orderBy("offset")
    highest = F.max("rank").over(earlier.rowsBetween(Window.unboundedPreceding, -1))
    return (
        records.where(F.col("key").isNotNull())
        .select("partition", "key", "offset", rank.alias("rank"))
        .where(F.col("rank").isNotNull())
        .withColumn("highest", highest)
        .where(F.col("rank") < F.col("highest"))
        .groupBy("partition")
        .agg(F.count("*").alias("out_of_order"))
    )


def duplicates(records: DataFrame, id_header: str) -> DataFrame:
    """How many records repeat the id of another, counted where the repeated one is.

    The first is that of the lowest partition and offset; an id is looked for in all partitions.
    """
    order = Window.partitionBy("id").orderBy("partition", "offset")
    return (
        records.select("partition", "offset", header_text(id_header).alias("id"))
        .where(F.col("id").isNotNull())
        .withColumn("number", F.row_number().over(order))
        .where(F.col("number") > 1)
        .groupBy("partition")
        .agg(F.count("*").alias("duplicates"))
    )


def checksums(records: DataFrame) -> DataFrame:
    """Rows and a checksum by partition, over offsets, timestamps, keys, values and headers.

    The order in which Spark reads does not matter; two reads of the same records agree.
    """
    return records.groupBy("partition").agg(
        F.count("*").alias("records"),
        F.lower(F.lpad(F.hex(F.bit_xor(_digest())), 16, "0")).alias("checksum"),
    )


def _digest() -> Column:
    """64 bits of one record. A null is hashed as nothing, so it is told from what is empty."""
    return F.xxhash64(
        F.col("offset"),
        F.unix_millis("timestamp"),
        F.col("key").isNull(),
        F.col("key"),
        F.col("value").isNull(),
        F.col("value"),
        F.to_json("headers"),
    )


def report(bounds: DataFrame, findings: list[DataFrame], *, counted: tuple[str, ...]) -> DataFrame:
    """One row for each partition of ``bounds``, with what was found; what was not is 0.

    ``is_proven`` holds where nothing is unexplained, out of order or a duplicate.
    """
    rows = bounds
    for finding in findings:
        rows = rows.join(finding, "partition", "left")
    for name in counted:
        rows = rows.withColumn(name, F.coalesce(F.col(name), F.lit(0)))
    faults = [name for name in ("unexplained", "out_of_order", "duplicates") if name in counted]
    proven = F.lit(True)
    for name in faults:
        proven = proven & (F.col(name) == 0)
    return rows.withColumn("is_proven", proven).orderBy("partition")
