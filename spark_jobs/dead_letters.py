"""Dead letters: records that could not be used, kept with the reason and the way back.

A dead letter has the key and value of the record, its own headers, and these:

    dead-letter-reason     why it is one
    dead-letter-topic      where it was read,
    dead-letter-partition  and where in there;
    dead-letter-offset     the three together name the record, also if it was written twice
    dead-letter-retries    how often it was put back; `dead_letter_replay` counts it up

The counter stays with the record when it is put back and becomes a dead letter again.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

PREFIX = "dead-letter-"
REASON = PREFIX + "reason"
TOPIC = PREFIX + "topic"
PARTITION = PREFIX + "partition"
OFFSET = PREFIX + "offset"
RETRIES = PREFIX + "retries"

HEADERS_TYPE = "array<struct<key:string,value:binary>>"


def headers() -> Column:
    """The headers of a record; Spark has null where there are none."""
    return F.coalesce(F.col("headers"), F.array().cast(HEADERS_TYPE))


def header_text(name: str, of: Column | None = None) -> Column:
    """The value of the last header with this name, as text; null if there is none."""
    found = F.filter(headers() if of is None else of, lambda header: header["key"] == name)
    # try_element_at counts from 1, and from the end below 0.
    return F.try_element_at(found, F.lit(-1))["value"].cast("string")


def header(name: str, value: Column) -> Column:
    """One header with a value that is made into text."""
    return F.struct(F.lit(name).alias("key"), value.cast("string").cast("binary").alias("value"))


def own_headers(of: Column | None = None) -> Column:
    """The headers of a record without those of dead letters."""
    every = headers() if of is None else of
    return F.filter(every, lambda each: ~each["key"].startswith(PREFIX))


def retries() -> Column:
    """How often a record was put back, as its headers say; 0 if they do not or make no sense."""
    counted = header_text(RETRIES).try_cast("int")
    return F.greatest(F.coalesce(counted, F.lit(0)), F.lit(0))


def dead_letter_headers(reason: Column) -> Column:
    """The headers of the dead letter that a row, as the connector reads it, becomes."""
    ours = F.array(
        header(REASON, reason),
        header(TOPIC, F.col("topic")),
        header(PARTITION, F.col("partition")),
        header(OFFSET, F.col("offset")),
        header(RETRIES, retries()),
    )
    return F.concat(own_headers(), ours).cast(HEADERS_TYPE)


def dead_letters(rows: DataFrame, reason: Column, topic: str) -> DataFrame:
    """What the connector writes to the dead-letter topic, for rows as it reads them."""
    return rows.select(
        F.lit(topic).alias("topic"),
        F.col("key"),
        F.col("value"),
        dead_letter_headers(reason).alias("headers"),
    )
