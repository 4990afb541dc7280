"""Payloads of every kind, on static frames: each record is a row or a dead letter, never both."""

import json
from datetime import UTC, date, datetime

import pytest
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from spark_jobs.options import BadInputError
from spark_jobs.topic_to_lake.payloads import payload_of
from spark_jobs.topic_to_lake.transform import bad_records, lake_rows

SCHEMA = "id BIGINT NOT NULL, name STRING, tags ARRAY<STRING>"
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Event",
        "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}],
    }
)
AVRO_ALL_NULLABLE = json.dumps(
    {
        "type": "record",
        "name": "Event",
        "fields": [{"name": "id", "type": ["null", "long"]}],
    }
)


def reasons(rows):
    """The reason of each dead letter, by offset."""
    found = {}
    for row in rows.collect():
        headers = {header.key: bytes(header.value).decode() for header in row.headers}
        found[int(headers["dead-letter-offset"])] = headers["dead-letter-reason"]
    return found


def test_json_becomes_columns_and_folders(record_frame):
    rows = record_frame(
        {
            "key": "a",
            "value": '{"id": 7, "name": "x", "tags": ["t"], "extra": true}',
            "timestamp": datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC),
            "partition": 2,
            "offset": 5,
        }
    )

    [row] = lake_rows(rows, payload_of("json", SCHEMA)).collect()

    assert row.value.asDict() == {"id": 7, "name": "x", "tags": ["t"]}
    assert (row.topic, row.date, row.hour) == ("events", date(2026, 3, 1), 23)
    assert (bytes(row.key), row.partition, row.offset) == (b"a", 2, 5)


def test_bad_json_says_what_is_wrong(record_frame):
    payload = payload_of("json", SCHEMA)
    rows = record_frame(
        {"value": '{"id": 1}'},
        {"value": "{"},
        {"value": ""},
        {"value": b"\xff\xfe"},
        {"value": '{"id": "seven"}'},
        {"value": '{"name": "no id"}'},
        {"value": None},
    )

    assert reasons(bad_records(rows, payload, "dead")) == {
        1: "the value is not JSON",
        2: "the value is not JSON",
        3: "the value is not JSON",
        4: "the value does not fit the schema",
        5: "the field id is missing",
    }
    good = {row.offset: row.value for row in lake_rows(rows, payload).collect()}
    assert good.keys() == {0, 6}
    assert good[6] is None, "a tombstone is not bad"


@pytest.mark.parametrize(("kind", "frame"), [("avro", b""), ("avro-framed", b"\0\0\0\0\1")])
def test_avro_with_and_without_a_frame(record_frame, spark, kind, frame):
    [encoded] = (
        spark.range(1)
        .select(
            to_avro(F.struct(F.lit(7).cast("long").alias("id"), F.lit("x").alias("name")), AVRO)
        )
        .first()
    )
    payload = payload_of(kind, AVRO)
    rows = record_frame({"value": frame + bytes(encoded)}, {"value": frame}, {"value": None})

    good = {row.offset: row.value for row in lake_rows(rows, payload).collect()}
    assert good[0].asDict() == {"id": 7, "name": "x"}
    assert good.keys() == {0, 2}
    assert reasons(bad_records(rows, payload, "dead")) == {1: "the value does not fit the schema"}


def test_a_value_without_its_frame_is_bad(record_frame):
    rows = record_frame({"value": b"\x01\0\0\0\1abc"})

    found = reasons(bad_records(rows, payload_of("avro-framed", AVRO), "dead"))
    assert found == {0: "the value has no frame of a schema registry"}


def test_a_record_of_nulls_is_told_from_a_corrupt_one(record_frame):
    """Avro's encoding of a null branch of the first place is a zero byte."""
    payload = payload_of("avro", AVRO_ALL_NULLABLE)
    rows = record_frame({"value": b"\0"}, {"value": b"\x7f"})

    assert [row.offset for row in lake_rows(rows, payload).collect()] == [0]
    assert reasons(bad_records(rows, payload, "dead")) == {1: "the value does not fit the schema"}


def test_binary_takes_everything(record_frame):
    rows = record_frame({"value": b"\xff"}, {"value": None})
    payload = payload_of("binary", None)

    assert [row.value for row in lake_rows(rows, payload).orderBy("offset").collect()] == [
        b"\xff",
        None,
    ]
    assert bad_records(rows, payload, "dead").count() == 0


@pytest.mark.parametrize(
    ("kind", "schema", "complaint"),
    [
        ("json", None, "--payload json needs a schema"),
        ("json", "id id id", "the schema is no list of columns"),
        ("avro", "{", "the schema is not the JSON of an Avro record"),
        ("avro", '"string"', "the schema is not the JSON of an Avro record"),
        ("avro", '{"type": "record", "name": "E", "fields": []}', "has no fields"),
    ],
)
def test_a_bad_schema_is_told_in_one_line(spark, kind, schema, complaint):
    with pytest.raises(BadInputError, match=complaint) as raised:
        payload_of(kind, schema)
    assert "\n" not in str(raised.value)
