"""The round of a bad record: lake, dead letters, back, and at last parked."""

from spark_jobs.dead_letter_replay.main import run as replay
from spark_jobs.scene import text_headers
from spark_jobs.topic_to_lake.main import run as to_lake


def test_a_record_is_retried_until_it_is_fixed_or_parked(
    spark, scene, topic, bootstrap, tmp_path, capsys
):
    dead, parked = f"{topic}-dead", f"{topic}-parked"
    scene.create(topic, dead, parked)
    scene.send(topic, [("fixable", '{"n": "7"}'), ("hopeless", "{")])
    lake = [
        *("--bootstrap", bootstrap, "--topics", topic, "--once", "--dead-letter-topic", dead),
        *("--lake", str(tmp_path / "lake"), "--checkpoint", str(tmp_path / "lake-checkpoint")),
    ]
    back = [
        *("--bootstrap", bootstrap, "--topics", dead, "--parking-topic", parked, "--once"),
        *("--max-retries", "1", "--checkpoint", str(tmp_path / "replay-checkpoint")),
    ]

    assert to_lake([*lake, "--schema", "n INT"]) == 0
    assert replay([*back, "--show"]) == 0
    assert "the value does not fit the schema" in capsys.readouterr().out
    assert len(scene.read(topic)) == 2, "showing writes nothing"

    assert replay(back) == 0
    assert [text_headers(each)["dead-letter-retries"] for each in scene.read(topic)[2:]] == [
        "1"
    ] * 2
    # The fix: numbers may be text.
    assert to_lake([*lake, "--schema", "n STRING"]) == 0
    assert replay(back) == 0

    rows = spark.read.parquet(str(tmp_path / "lake")).select("key", "value.n").collect()
    assert [(bytes(row.key), row.n) for row in rows] == [(b"fixable", "7")]
    [letter] = scene.read(parked)
    assert letter.record.key == b"hopeless"
    found = text_headers(letter)
    assert found["dead-letter-retries"] == "1"
    assert found["dead-letter-parked"] == "it was put back as often as allowed (1)"
