"""Counts in a compacted topic on a real broker, over a restart of the job."""

import json
from datetime import UTC, datetime

from spark_jobs.windowed_counts.main import run

NOON_MS = int(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp() * 1000)


def table(scene, topic):
    """What the compacted topic holds: the newest count of each key and window."""
    newest = {each.record.key: json.loads(each.record.value) for each in scene.read(topic)}
    return {(row["key"], row["window_start"][11:16]): row["count"] for row in newest.values()}


def clicks(user, *minutes):
    return [
        (None, json.dumps({"user": user, "at": NOON_MS + int(60_000 * minute)}), {}, None)
        for minute in minutes
    ]


def test_counts_go_on_over_a_restart_and_late_events_are_counted_apart(
    spark, scene, topic, bootstrap, tmp_path, capsys
):
    scene.create(topic)
    command = [
        *("--bootstrap", bootstrap, "--topics", topic, "--to", f"{topic}-counts", "--once"),
        *("--window", "1 minute", "--watermark", "2 minutes"),
        *("--key-path", "$.user", "--time-path", "$.at", "--checkpoint", str(tmp_path)),
    ]
    scene.send(topic, [*clicks("a", 0, 0.5, 1), *clicks("b", 0), (None, "no event", {}, None)])
    assert run(command) == 0
    assert table(scene, f"{topic}-counts") == {
        ("a", "12:00"): 2,
        ("a", "12:01"): 1,
        ("b", "12:00"): 1,
    }

    scene.send(topic, [*clicks("a", 0.9), *clicks("b", 10)])
    assert run(command) == 0
    assert table(scene, f"{topic}-counts")[("a", "12:00")] == 3
    assert " 1 without time" in capsys.readouterr().out

    # The latest event was at 12:10, so the first minutes are closed.
    scene.send(topic, [*clicks("a", 0.2), *clicks("c", 1), *clicks("b", 10.5)])
    assert run(command) == 0
    assert "3 rows" in (shown := capsys.readouterr().out)
    assert " 2 late" in shown
    assert table(scene, f"{topic}-counts") == {
        ("a", "12:00"): 3,
        ("a", "12:01"): 1,
        ("b", "12:00"): 1,
        ("b", "12:10"): 2,
    }


def test_a_topic_that_is_not_compacted_is_refused(
    scene, topic, bootstrap, tmp_path, capsys, run_command
):
    scene.create(topic, f"{topic}-counts")

    code = run_command(
        "windowed_counts",
        [
            *("--bootstrap", bootstrap, "--topics", topic, "--to", f"{topic}-counts"),
            *("--checkpoint", str(tmp_path), "--once"),
        ],
    )

    assert code == 2
    assert "the topic is not compacted" in capsys.readouterr().err
