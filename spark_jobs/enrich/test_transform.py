"""The reference as a table, and the join, on static frames."""

import json
from datetime import UTC, datetime

import pytest

from spark_jobs.enrich.transform import enriched, table

EARLY, LATE = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)


@pytest.fixture
def reference(record_frame):
    return table(
        record_frame(
            {"key": "a", "value": '{"city": "old"}'},
            {"key": "a", "value": '{"city": "new"}'},
            {"key": "gone", "value": "{}"},
            {"key": "gone", "value": None},
            {"key": "broken", "value": "{"},
            {"key": None, "value": "{}"},
        )
    )


def join(records, reference, key_path=None):
    rows = enriched(records, reference, key_path=key_path, to="out", dead_letter_topic="dead")
    return rows.collect()


def reason(row):
    return {header.key: bytes(header.value).decode() for header in row.headers}[
        "dead-letter-reason"
    ]


def test_the_table_has_the_latest_value_of_each_key_and_no_deleted_ones(reference):
    found = {row.reference_key: bytes(row.reference_value) for row in reference.collect()}

    assert found == {"a": b'{"city": "new"}', "broken": b"{"}


def test_time_decides_when_a_key_has_moved_to_another_partition(record_frame):
    rows = table(
        record_frame(
            {"key": "a", "value": "old", "partition": 0, "offset": 900, "timestamp": EARLY},
            {"key": "a", "value": "new", "partition": 1, "offset": 3, "timestamp": LATE},
        )
    )

    assert [bytes(row.reference_value) for row in rows.collect()] == [b"new"]


def test_a_match_has_both_values(record_frame, reference):
    rows = record_frame({"key": "a", "value": '{"n": 1}', "headers": [("trace", "7")]})

    [row] = join(rows, reference)

    assert (row.topic, bytes(row.key)) == ("out", b"a")
    assert json.loads(bytes(row.value)) == {"value": {"n": 1}, "reference": {"city": "new"}}
    assert [(header.key, bytes(header.value)) for header in row.headers] == [("trace", b"7")]


def test_the_key_may_stand_in_the_value(record_frame, reference):
    rows = record_frame({"key": None, "value": '{"customer": "a"}'})

    [row] = join(rows, reference, key_path="$.customer")
    assert row.topic == "out"


def test_what_finds_no_match_becomes_a_dead_letter_with_its_reason(record_frame, reference):
    rows = record_frame(
        {"key": "gone", "value": "{}"},
        {"key": None, "value": "{}"},
        {"key": "a", "value": "not json"},
        {"key": "broken", "value": "{}"},
    )

    found = join(rows, reference)

    assert {row.topic for row in found} == {"dead"}
    assert sorted(map(reason, found)) == [
        "the reference has no key gone",
        "the value is not JSON",
        "the value of the reference is not JSON",
        "there is no key to look up",
    ]
    assert b"not json" in {bytes(row.value) for row in found}, "the value is as it was"
