"""What values are made of, and why one cannot be read.

A `Payload` is what `transform` needs: the value as a column, and the reason why it is bad as
another, null where it is good. A record without a value (a tombstone) is never bad.
"""

import json
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro
from pyspark.sql.types import StringType, StructField, StructType

from spark_jobs.options import BadInputError, one_line

KINDS = ("json", "avro", "avro-framed", "binary")

_CORRUPT = "_corrupt"
# The frame of schema registries: a zero byte and the schema's id in four bytes.
_FRAME_BYTES = 5
_MAGIC = b"\x00"


@dataclass(frozen=True)
class Payload:
    """Two columns over rows with a binary ``value``."""

    value: Column
    reason: Column


def payload_of(kind: str, schema: str | None) -> Payload:
    """The payload of a kind; BadInputError if the schema is missing or makes no sense."""
    if kind == "binary":
        return Payload(F.col("value"), F.lit(None).cast("string"))
    if schema is None:
        raise BadInputError(f"--payload {kind} needs a schema")
    if kind == "json":
        return json_payload(_ddl(schema))
    return avro_payload(schema, framed=kind == "avro-framed")


def json_payload(schema: StructType) -> Payload:
    """Values that are JSON objects; a field that is NOT NULL in the schema must be there."""
    text = F.col("value").cast("string")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    wanted = StructType([*schema.fields, StructField(_CORRUPT, StringType())])
    parsed = F.from_json(text, wanted, options)
    broken = F.when(F.try_parse_json(text).isNull(), F.lit("the value is not JSON")).otherwise(
        "the value does not fit the schema"
    )
    missing = [
        F.when(parsed[field.name].isNull(), F.lit(f"the field {field.name} is missing"))
        for field in schema.fields
        if not field.nullable
    ]
    reason = F.when(
        F.col("value").isNotNull(),
        F.coalesce(
            F.when(parsed.isNull() | parsed[_CORRUPT].isNotNull(), broken),
            *missing,
            F.lit(None).cast("string"),
        ),
    )
    fields = [parsed[field.name].alias(field.name) for field in schema.fields]
    return Payload(F.when(F.col("value").isNotNull(), F.struct(*fields)), reason)


def avro_payload(schema: str, *, framed: bool) -> Payload:
    """Values in Avro's binary encoding, with or without the frame of schema registries."""
    fields = _avro_fields(schema)
    body, unframed = F.col("value"), F.lit(None).cast("string")
    if framed:
        body = F.substring(F.col("value"), _FRAME_BYTES + 1, 2**31 - 1)
        unframed = F.when(
            F.substring(F.col("value"), 1, 1) != F.lit(_MAGIC),
            F.lit("the value has no frame of a schema registry"),
        )
    parsed = from_avro(body, schema, {"mode": "PERMISSIVE"})
    wrong = F.when(
        _is_corrupt(parsed, body, schema, fields), F.lit("the value does not fit the schema")
    )
    reason = F.when(F.col("value").isNotNull(), F.coalesce(unframed, wrong))
    return Payload(F.when(F.col("value").isNotNull(), parsed), reason)


def _is_corrupt(parsed: Column, body: Column, schema: str, fields: dict[str, bool]) -> Column:
    """Whether Avro gave up on a value: Spark then makes a row of nulls.

    A field that cannot be null tells. If all can, the bytes of a row of nulls are known, and what
    has other bytes is corrupt.
    """
    required = [name for name, nullable in fields.items() if not nullable]
    if required:
        return parsed[required[0]].isNull()
    empty = F.lit(True)
    for name in fields:
        empty = empty & parsed[name].isNull()
    return empty & (to_avro(parsed, schema) != body)


def _avro_fields(schema: str) -> dict[str, bool]:
    """The fields of an Avro record, and whether each may be null."""
    try:
        record = json.loads(schema)
        fields = {field["name"]: _is_nullable(field["type"]) for field in record["fields"]}
    except (ValueError, KeyError, TypeError):
        raise BadInputError("the schema is not the JSON of an Avro record") from None
    if not fields:
        raise BadInputError("the Avro schema has no fields")
    return fields


def _is_nullable(kind: object) -> bool:
    return kind == "null" or (isinstance(kind, list) and "null" in kind)


def _ddl(schema: str) -> StructType:
    try:
        return StructType.fromDDL(schema)
    except PySparkException as error:
        raise BadInputError(f"the schema is no list of columns: {one_line(error)}") from None
