"""Topics into the lake on a real broker, over restarts of the job."""

import json
from datetime import UTC, datetime

import pytest

from spark_jobs.scene import text_headers
from spark_jobs.topic_to_lake.main import run

NOON_MS = int(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp() * 1000)


@pytest.fixture
def command(bootstrap, topic, tmp_path):
    return [
        *("--bootstrap", bootstrap, "--topics", topic, "--once"),
        *("--lake", str(tmp_path / "lake"), "--checkpoint", str(tmp_path / "checkpoint")),
        *("--schema", "n INT NOT NULL", "--dead-letter-topic", f"{topic}-dead"),
    ]


def events(first, last):
    return [
        (f"k{n}", json.dumps({"n": n}), {"id": str(n)}, NOON_MS + 60_000 * n)
        for n in range(first, last)
    ]


def test_every_record_is_in_the_lake_once_over_several_runs(
    spark, scene, topic, command, tmp_path, capsys
):
    scene.create(topic, f"{topic}-dead", partitions=3)
    scene.send(topic, [*events(0, 100), ("bad", "{", {"trace": "7"}, NOON_MS)])

    assert run([*command, "--max-offsets-per-trigger", "40"]) == 0
    scene.send(topic, events(100, 150))
    assert run(command) == 0
    assert run(command) == 0, "nothing is new"

    lake = spark.read.parquet(str(tmp_path / "lake"))
    assert sorted(row.n for row in lake.select("value.n").collect()) == list(range(150))
    assert lake.select("partition", "offset").distinct().count() == 150
    folders = {
        str(path.parent.relative_to(tmp_path / "lake"))
        for path in (tmp_path / "lake").rglob("*.parquet")
    }
    assert folders == {f"topic={topic}/date=2026-03-01/hour={hour}" for hour in (12, 13, 14)}
    [letter] = scene.read(f"{topic}-dead")
    assert (letter.record.key, letter.record.value) == (b"bad", b"{")
    found = text_headers(letter)
    assert (found["trace"], found["dead-letter-reason"]) == ("7", "the value is not JSON")
    assert found["dead-letter-topic"] == topic
    shown = capsys.readouterr().out
    assert "lake: batch 0, " in shown, shown
    assert "lake: batch 2, " in shown, "40 offsets at a time make three batches of 101"
    assert "0 offsets behind" in shown, shown


def test_avro_with_the_schema_in_a_file(spark, scene, topic, bootstrap, tmp_path):
    schema = '{"type": "record", "name": "E", "fields": [{"name": "n", "type": "long"}]}'
    (tmp_path / "event.avsc").write_text(schema)
    scene.create(topic, f"{topic}-dead")
    # Avro's zigzag numbers: 14 is 7; an endless number is none.
    scene.send(topic, [("a", "\x0e"), ("b", "\x7f" * 0)])

    code = run(
        [
            *("--bootstrap", bootstrap, "--topics", topic, "--once", "--payload", "avro"),
            *("--schema-file", str(tmp_path / "event.avsc"), "--dead-letter-topic"),
            *(f"{topic}-dead", "--lake", str(tmp_path / "lake")),
            *("--checkpoint", str(tmp_path / "checkpoint")),
        ]
    )

    assert code == 0
    rows = spark.read.parquet(str(tmp_path / "lake")).select("key", "value.n").collect()
    assert [(bytes(row.key), row.n) for row in rows] == [(b"a", 7)]
    [letter] = scene.read(f"{topic}-dead")
    assert text_headers(letter)["dead-letter-reason"] == "the value does not fit the schema"
