"""What an audit finds in static frames."""

from datetime import UTC, datetime, timedelta

import pytest

from spark_jobs.audit.transform import checksums, duplicates, missing_ranges, out_of_order, report

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def bounds(spark):
    def make(*rows):
        return spark.createDataFrame(rows, "partition INT, begin_offset BIGINT, end_offset BIGINT")

    return make


def found(frame):
    return sorted(tuple(row) for row in frame.collect())


def test_gaps_are_found_at_both_ends_and_in_the_middle(record_frame, bounds):
    rows = record_frame(
        *[{"partition": 0, "offset": offset} for offset in (6, 7, 10)],
        *[{"partition": 1, "offset": offset} for offset in (0, 1)],
    )

    missing = missing_ranges(rows, bounds((0, 5, 12), (1, 0, 2), (2, 3, 5), (3, 4, 4)))
    assert found(missing) == [(0, 5, 5), (0, 8, 9), (0, 11, 11), (2, 3, 4)]


def test_order_is_that_of_time_within_a_key(record_frame):
    rows = record_frame(
        {"key": "a", "timestamp": NOON},
        {"key": "b", "timestamp": NOON - timedelta(hours=1)},
        {"key": "a", "timestamp": NOON + timedelta(seconds=9)},
        {"key": "a", "timestamp": NOON + timedelta(seconds=5)},
        {"key": "a", "timestamp": NOON + timedelta(seconds=7)},
        {"key": "a", "timestamp": NOON + timedelta(seconds=9)},
        {"key": None, "timestamp": NOON - timedelta(hours=2)},
    )

    assert found(out_of_order(rows, None)) == [(0, 2)]


def test_order_may_be_that_of_a_number_in_a_header(record_frame):
    rows = record_frame(
        {"key": "a", "headers": [("n", "9")]},
        {"key": "a", "headers": [("n", "10")]},
        {"key": "a"},
        {"key": "a", "headers": [("n", "8")]},
    )

    assert found(out_of_order(rows, "n")) == [(0, 1)]


def test_duplicates_are_found_over_all_partitions(record_frame):
    rows = record_frame(
        {"partition": 0, "headers": [("id", "1")]},
        {"partition": 0, "headers": [("id", "2")]},
        {"partition": 1, "headers": [("id", "1")]},
        {"partition": 1, "headers": [("id", "1")]},
        {"partition": 1},
        {"partition": 1},
    )

    assert found(duplicates(rows, "id")) == [(1, 2)]


def test_a_checksum_does_not_depend_on_the_order_of_reading(record_frame):
    records = [{"key": f"k{n}", "value": f"v{n}", "offset": n} for n in range(50)]

    assert found(checksums(record_frame(*records))) == found(
        checksums(record_frame(*records[::-1]))
    )


@pytest.mark.parametrize(
    "change",
    [
        {"value": "w"},
        {"key": None},
        {"key": ""},
        {"offset": 2},
        {"timestamp": NOON + timedelta(milliseconds=1)},
        {"headers": [("h", "2")]},
        {"key": "v", "value": "k"},
    ],
)
def test_a_checksum_changes_with_every_part_of_a_record(record_frame, change):
    record = {"key": "k", "value": "v", "offset": 1, "timestamp": NOON, "headers": [("h", "1")]}

    [(_, _, before)] = found(checksums(record_frame(record)))
    [(_, _, after)] = found(checksums(record_frame(record | change)))
    assert before != after


def test_a_null_is_told_from_what_is_empty(record_frame):
    [(_, _, null)] = found(checksums(record_frame({"key": None, "value": ""})))
    [(_, _, empty)] = found(checksums(record_frame({"key": "", "value": None})))

    assert null != empty


def test_the_report_has_a_row_for_every_partition(record_frame, bounds, spark):
    rows = record_frame({"partition": 0, "headers": [("id", "1")]}, {"headers": [("id", "1")]})
    gaps = spark.createDataFrame([(1, 3)], "partition INT, unexplained BIGINT")
    findings = [checksums(rows), gaps, duplicates(rows, "id")]

    told = report(
        bounds((0, 0, 2), (1, 0, 3), (2, 0, 0)),
        findings,
        counted=("records", "unexplained", "duplicates"),
    )

    rows = told.select("partition", "records", "unexplained", "duplicates", "is_proven")
    assert [tuple(row) for row in rows.collect()] == [
        (0, 2, 0, 1, False),
        (1, 0, 3, 0, False),
        (2, 0, 0, 0, True),
    ]
