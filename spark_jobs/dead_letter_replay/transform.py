"""Dead letters to records for their old topics, or for the parking topic."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.dead_letters import (
    HEADERS_TYPE,
    PREFIX,
    REASON,
    RETRIES,
    TOPIC,
    header,
    header_text,
    headers,
    own_headers,
    retries,
)

# Why a letter is parked: this job's word, beside the reason that it brought along.
PARKED = PREFIX + "parked"


def replayed(letters: DataFrame, *, max_retries: int, parking_topic: str) -> DataFrame:
    """What the connector writes.

    letter                                    goes to        with
    ----------------------------------------  -------------  -----------------------------------
    was put back fewer than max_retries times its old topic  its own headers, the counter one up
    was put back that often                   parking topic  all its headers and why
    does not say where it came from           parking topic  all its headers and why
    """
    old_topic = header_text(TOPIC)
    why = F.coalesce(
        F.when(old_topic.isNull() | (old_topic == ""), F.lit("it does not say where it came from")),
        F.when(
            retries() >= max_retries, F.lit(f"it was put back as often as allowed ({max_retries})")
        ),
    )
    counter = F.array(header(RETRIES, retries() + 1))
    parked = F.array(header(PARKED, F.col("why")))
    # Spark's optimizer is free to compute ``why`` twice; it is cheap.
    return letters.withColumn("why", why).select(
        F.when(F.col("why").isNull(), old_topic).otherwise(F.lit(parking_topic)).alias("topic"),
        F.col("key"),
        F.col("value"),
        F.when(F.col("why").isNull(), F.concat(own_headers(), counter))
        .otherwise(F.concat(headers(), parked))
        .cast(HEADERS_TYPE)
        .alias("headers"),
    )


def reasons(letters: DataFrame) -> DataFrame:
    """How many letters there are by old topic and reason, the most first."""
    return (
        letters.groupBy(
            header_text(TOPIC).alias("topic"),
            header_text(REASON).alias("reason"),
            retries().alias("retries"),
        )
        .count()
        .orderBy(F.desc("count"), "topic", "reason", "retries")
    )
