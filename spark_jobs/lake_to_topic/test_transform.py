"""Rows of a lake to records, on static frames."""

from datetime import UTC, datetime, timedelta

import pytest

from spark_jobs.lake_to_topic.slices import Slice
from spark_jobs.lake_to_topic.transform import Columns, between, records, slice_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOON_MS = int(NOON.timestamp() * 1000)
COLUMNS = Columns("key", "value", "timestamp")


@pytest.fixture
def lake(spark):
    """Ten keys with ten rows each, one every second."""
    rows = [
        (f"key {n % 10}", (n,), NOON + timedelta(seconds=n), NOON.date(), "events", 0, n)
        for n in range(100)
    ]
    return spark.createDataFrame(
        rows,
        "key STRING, value STRUCT<n: INT>, timestamp TIMESTAMP, date DATE, topic STRING, "
        "partition INT, offset BIGINT",
    )


def test_a_time_is_from_one_on_and_before_another(lake):
    chosen = between(lake, "timestamp", NOON_MS + 10_000, NOON_MS + 20_000)

    assert sorted(row.offset for row in chosen.collect()) == list(range(10, 20))
    assert between(lake, "timestamp", None, None).count() == 100
    assert between(lake, "timestamp", NOON_MS + 86_400_000, None).count() == 0


def test_parts_of_a_slice_hold_whole_keys_and_together_all(lake):
    parts = [
        slice_of(lake, COLUMNS, Slice(NOON_MS, NOON_MS + 100_000, 33, part, 3)).collect()
        for part in range(3)
    ]

    keys = [{row.key for row in part} for part in parts]
    assert sorted(row.offset for part in parts for row in part) == list(range(100))
    assert sum(map(len, keys)) == len(keys[0] | keys[1] | keys[2]) == 10


def test_a_record_keeps_key_value_and_time(lake):
    [record] = records(lake.where("offset = 7"), COLUMNS, "again").collect()

    assert (record.topic, bytes(record.key), bytes(record.value)) == ("again", b"key 7", b'{"n":7}')
    [header] = record.headers
    assert (header.key, int(bytes(header.value))) == ("original-timestamp-ms", NOON_MS + 7_000)


def test_bytes_text_and_numbers_go_as_they_are(spark):
    rows = spark.createDataFrame(
        [(5, bytearray(b"\xff"), NOON)], "key INT, value BINARY, timestamp TIMESTAMP"
    )

    [record] = records(rows, COLUMNS, "again").collect()
    assert (bytes(record.key), bytes(record.value)) == (b"5", b"\xff")


def test_the_rows_of_a_key_stay_in_order_in_one_task(lake, spark):
    shuffled = lake.orderBy("value.n", ascending=False)

    tasks = records(shuffled, COLUMNS, "again").rdd.glom().collect()
    for task in tasks:
        for key in {bytes(row.key) for row in task}:
            values = [bytes(row.value) for row in task if bytes(row.key) == key]
            number = int(key.split()[1])
            assert values == [b'{"n":%d}' % n for n in range(number, 100, 10)]
    assert sum(map(len, tasks)) == 100
