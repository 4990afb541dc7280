"""A lake replayed into a topic on a real broker."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from spark_jobs.lake_to_topic.main import run
from spark_jobs.scene import text_headers

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def lake(spark, tmp_path):
    """600 rows of ten keys, one every second, in files that are in no order."""
    rows = [
        (f"key {n % 10}".encode(), (n,), NOON + timedelta(seconds=n), "events", NOON.date())
        for n in range(600)
    ]
    frame = spark.createDataFrame(
        rows, "key BINARY, value STRUCT<n: INT>, timestamp TIMESTAMP, topic STRING, date DATE"
    )
    path = str(tmp_path / "lake")
    frame.repartition(3).write.partitionBy("topic", "date").parquet(path)
    return path


def test_rows_between_two_times_come_in_order_and_not_too_fast(
    scene, topic, bootstrap, lake, capsys
):
    scene.create(topic, partitions=3)
    began_at = time.monotonic()

    code = run(
        [
            *("--bootstrap", bootstrap, "--lake", lake, "--topic", topic),
            *("--from", "2026-03-01T12:01:00", "--until", "2026-03-01T12:06:00+00:00"),
            *("--rate", "100", "--slice-seconds", "1.5", "--from-topic", "events"),
        ]
    )

    assert code == 0
    # 300 rows in two slices of 150: the second ends when the rate allows a third.
    assert time.monotonic() - began_at >= 3.0
    records = scene.read(topic)
    values = [int(each.record.value[5:-1]) for each in records]
    assert sorted(values) == list(range(60, 360))
    for key in {each.record.key for each in records}:
        of_key = [each for each in records if each.record.key == key]
        assert len({each.partition for each in of_key}) == 1
        numbers = [int(each.record.value[5:-1]) for each in of_key]
        assert numbers == sorted(numbers)
    first = min(records, key=lambda each: int(each.record.value[5:-1]))
    moment = NOON + timedelta(seconds=60)
    assert text_headers(first) == {"original-timestamp-ms": str(int(moment.timestamp() * 1000))}
    shown = capsys.readouterr().out
    assert "150 rows" in shown
    assert "to go on from here: --from 2026-03-01T12:03:29." in shown
    assert "done, 300 rows" in shown


def test_a_lake_that_does_not_fit_is_told_in_one_line(
    scene, topic, bootstrap, lake, capsys, run_command
):
    scene.create(topic)
    command = ["--bootstrap", bootstrap, "--lake", lake, "--topic", topic]

    assert run_command("lake_to_topic", [*command, "--key-column", "id"]) == 2
    assert run_command("lake_to_topic", [*command, "--lake", f"{lake}/nowhere"]) == 2
    assert run_command("lake_to_topic", [*command, "--time-column", "key"]) == 2
    first, second, third = capsys.readouterr().err.splitlines()
    assert "the lake has no column id" in first
    assert "nowhere" in second
    assert "the column key is no time but binary" in third


def test_no_rows_in_that_time_are_no_error(scene, topic, bootstrap, lake, capsys):
    scene.create(topic)

    assert (
        run(["--bootstrap", bootstrap, "--lake", lake, "--topic", topic, "--from", "2027-01-01"])
        == 0
    )
    assert "done, 0 rows" in capsys.readouterr().out
