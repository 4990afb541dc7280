"""Records to rows of the lake, and those that cannot be read to dead letters.

Every record becomes either one row or one dead letter. Both functions take rows as the connector
reads them, with headers.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.dead_letters import dead_letters
from spark_jobs.topic_to_lake.payloads import Payload

PARTITION_COLUMNS = ("topic", "date", "hour")


def lake_rows(records: DataFrame, payload: Payload) -> DataFrame:
    """What can be read, with where it was read, and the columns that make the folders.

    Date and hour are those of the record's timestamp, in the session's time zone (UTC).
    """
    return records.where(payload.reason.isNull()).select(
        F.col("key"),
        payload.value.alias("value"),
        F.col("headers"),
        F.col("partition"),
        F.col("offset"),
        F.col("timestamp"),
        F.col("topic"),
        F.to_date("timestamp").alias("date"),
        F.hour("timestamp").alias("hour"),
    )


def bad_records(records: DataFrame, payload: Payload, topic: str) -> DataFrame:
    """What cannot be read, as dead letters for ``topic``."""
    return dead_letters(records.where(payload.reason.isNotNull()), payload.reason, topic)
