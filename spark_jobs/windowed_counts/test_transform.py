"""Counts per key and window, on static frames."""

import json
from datetime import UTC, datetime, timedelta

from spark_jobs.windowed_counts.transform import counts, events, upserts

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def counted(frame):
    return sorted((row.key or "", row.window.start.minute, row["count"]) for row in frame.collect())


def test_events_are_counted_by_key_and_window(record_frame):
    rows = record_frame(
        {"key": "a", "timestamp": NOON},
        {"key": "a", "timestamp": NOON + timedelta(seconds=59)},
        {"key": "a", "timestamp": NOON + timedelta(seconds=60)},
        {"key": "b", "timestamp": NOON},
    )

    found = counts(events(rows, None, None), "1 minute", None, "1 minute")
    assert counted(found) == [("a", 0, 2), ("a", 1, 1), ("b", 0, 1)]


def test_windows_that_slide_overlap(record_frame):
    rows = record_frame({"key": "a", "timestamp": NOON + timedelta(seconds=90)})

    found = counts(events(rows, None, None), "2 minutes", "1 minute", "1 minute")
    assert counted(found) == [("a", 0, 1), ("a", 1, 1)]


def test_key_and_time_come_from_the_json_that_is_asked_for(record_frame):
    rows = record_frame(
        {"value": '{"user": "u", "at": "2026-03-01T12:05:00Z"}'},
        {"value": f'{{"user": "u", "at": {NOON.timestamp() * 1000:.0f}}}'},
        {"value": '{"user": "u", "at": "yesterday"}'},
        {"value": "{"},
        {"value": None},
    )

    found = events(rows, "$.user", "$.at")
    assert [row.time is None for row in found.collect()] == [False, False, True, True, True]
    assert counted(counts(found, "1 minute", None, "1 minute")) == [("u", 0, 1), ("u", 5, 1)]


def test_an_upsert_is_keyed_by_key_and_window(record_frame):
    rows = record_frame({"key": "a", "timestamp": NOON}, {"key": None, "timestamp": NOON})

    found = upserts(counts(events(rows, None, None), "1 minute", None, "1 minute"), "table")

    window = {
        "window_start": "2026-03-01T12:00:00.000Z",
        "window_end": "2026-03-01T12:01:00.000Z",
    }
    records = {row.key: row for row in found.collect()}
    assert [json.loads(key) for key in sorted(records)] == [
        {"key": "a", **window},
        {"key": None, **window},
    ]
    for key, row in records.items():
        assert row.topic == "table"
        assert json.loads(row.value) == {**json.loads(key), "count": 1}
