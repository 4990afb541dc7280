"""Audits of topics on a real broker."""

from kbroker.client.cluster import Cluster
from kbroker.client.group_offsets import commit_offsets
from kbroker.model import TopicPartition
from spark_jobs.audit.main import run


def events(first, last, *, id_from=None):
    start = first if id_from is None else id_from
    return [
        (f"k{n % 7}", f"v{n}", {"id": str(start + n - first)}, 1_700_000_000_000 + n)
        for n in range(first, last)
    ]


def rows_of(spark, path):
    return {row.partition: row for row in spark.read.parquet(path).collect()}


def test_a_sound_topic_is_proven_and_a_duplicate_is_found(
    spark, scene, topic, bootstrap, tmp_path, capsys
):
    scene.create(topic, partitions=2)
    scene.send(topic, events(0, 200))
    with Cluster(bootstrap) as cluster:
        commit_offsets(cluster, f"{topic}-group", {TopicPartition(topic, 0): 10})
    command = [
        *("--bootstrap", bootstrap, "--topic", topic, "--id-header", "id"),
        *("--group", f"{topic}-group"),
    ]

    assert run([*command, "--report", str(tmp_path / "first")]) == 0
    shown = capsys.readouterr().out
    assert f"{topic} is proven" in shown
    assert "is_proven" in shown
    rows = rows_of(spark, str(tmp_path / "first"))
    assert sum(row.records for row in rows.values()) == 200
    assert all(row.end_offset == row.records for row in rows.values())
    assert (rows[0].committed, rows[0].lag) == (10, rows[0].end_offset - 10)
    assert (rows[1].committed, rows[1].lag) == (None, None)
    assert {row.topic for row in rows.values()} == {topic}

    # Another read has the same checksums; one more record changes that of its partition alone.
    scene.send(topic, events(200, 201, id_from=17))
    assert run([*command, "--report", str(tmp_path / "second")]) == 1
    assert f"{topic} is not as it should be in partitions" in capsys.readouterr().out
    again = rows_of(spark, str(tmp_path / "second"))
    assert sum(row.duplicates for row in again.values()) == 1
    assert sum(again[p].checksum == rows[p].checksum for p in (0, 1)) == 1


def test_the_gaps_of_a_compacted_topic_are_explained(spark, scene, topic, bootstrap, tmp_path):
    scene.create_compacted(topic)

    assert run(["--bootstrap", bootstrap, "--topic", topic, "--report", str(tmp_path)]) == 0
    [row] = rows_of(spark, str(tmp_path)).values()
    assert row.compacted > 100
    assert row.records + row.compacted == row.end_offset - row.begin_offset
    assert (row.markers, row.aborted, row.unexplained) == (0, 0, 0)


def test_times_that_go_back_are_out_of_order_unless_a_number_says_otherwise(
    spark, scene, topic, bootstrap
):
    scene.create(topic)
    scene.send(topic, [("k", "1", {"n": "1"}, 2000), ("k", "2", {"n": "2"}, 1000)])
    command = ["--bootstrap", bootstrap, "--topic", topic]

    assert run(command) == 1
    assert run([*command, "--sequence-header", "n"]) == 0


def test_an_empty_topic_is_proven(spark, scene, topic, bootstrap):
    scene.create(topic, partitions=3)

    assert run(["--bootstrap", bootstrap, "--topic", topic]) == 0
