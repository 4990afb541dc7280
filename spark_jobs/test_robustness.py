"""Streams survive what happens to brokers and topics: crashes, expiry, growth.

Shown with the job that must not lose or repeat a record, `topic_to_lake`, and a crash also with one
that keeps state and writes to a topic.
"""

import json
import time
from contextlib import contextmanager

import pytest
from compat_tests.broker_process import BrokerProcess

from spark_jobs.options import FailedError
from spark_jobs.progress import follow
from spark_jobs.scene import Scene
from spark_jobs.topic_to_lake.main import parser, run, start_streams
from spark_jobs.windowed_counts import main as windowed_counts

PATIENCE_S = 90


def command(bootstrap, topic, folder, *more):
    return [
        *("--bootstrap", bootstrap, "--topics", topic, "--payload", "binary"),
        *("--lake", f"{folder}/lake", "--checkpoint", f"{folder}/checkpoint"),
        *("--dead-letter-topic", f"{topic}-dead", *more),
    ]


@contextmanager
def streaming(spark, words):
    """The job's streams while they run on; gives that of the lake."""
    queries = start_streams(spark, parser().parse_args(words))
    try:
        yield queries[0]
    finally:
        for query in queries:
            query.stop()


def read_so_far(query):
    return sum(progress["numInputRows"] for progress in query.recentProgress)


def wait_until(query, condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert query.exception() is None, query.exception()
        assert time.monotonic() < deadline, query.lastProgress
        time.sleep(0.1)


def numbers(spark, folder):
    """The values in the lake, as numbers."""
    rows = spark.read.parquet(f"{folder}/lake").select("value").collect()
    return sorted(int(bytes(row.value)) for row in rows)


def events(first, last):
    return [(f"k{n}", str(n)) for n in range(first, last)]


def test_a_stream_goes_on_after_the_broker_was_killed_and_the_job_restarted(spark, tmp_path):
    (tmp_path / "broker").mkdir()
    with BrokerProcess(tmp_path / "broker") as broker, Scene(broker.bootstrap) as scene:
        scene.create("events", "events-dead", partitions=2)
        scene.send("events", events(0, 2000))
        words = command(broker.bootstrap, "events", tmp_path, "--max-offsets-per-trigger", "250")
        with streaming(spark, [*words, "--every", "0.2"]) as query:
            wait_until(query, lambda: read_so_far(query) >= 250)
            broker.kill()
            broker.start()
            scene.send("events", events(2000, 2500))
            wait_until(query, lambda: read_so_far(query) >= 1500)
        broker.kill()
        broker.start()
        assert run([*words, "--once"]) == 0

    assert numbers(spark, tmp_path) == list(range(2500))


def test_counts_are_exact_although_the_broker_was_killed_under_the_job(spark, tmp_path):
    (tmp_path / "broker").mkdir()
    with BrokerProcess(tmp_path / "broker") as broker, Scene(broker.bootstrap) as scene:
        scene.create("clicks", partitions=2)
        scene.create("counts", cleanup_policy="compact")
        clicks = [(f"u{n % 5}", "click", {}, 1_700_000_000_000) for n in range(1000)]
        scene.send("clicks", clicks)
        words = [
            *("--bootstrap", broker.bootstrap, "--topics", "clicks", "--to", "counts"),
            *("--checkpoint", str(tmp_path / "checkpoint"), "--every", "0.2"),
            *("--max-offsets-per-trigger", "100"),
        ]
        query = windowed_counts.start_stream(spark, windowed_counts.parser().parse_args(words))
        try:
            wait_until(query, lambda: read_so_far(query) >= 200)
            broker.kill()
            broker.start()
            scene.send("clicks", clicks)
            wait_until(query, lambda: read_so_far(query) == 2000)
        finally:
            query.stop()
        newest = {each.record.key: each.record.value for each in scene.read("counts")}

    assert len(newest) == 5
    assert [json.loads(value)["count"] for value in newest.values()] == [400] * 5


def test_partitions_that_are_added_while_a_stream_runs_are_read(
    spark, scene, topic, bootstrap, tmp_path
):
    scene.create(topic, f"{topic}-dead")
    scene.send(topic, events(0, 100))
    with streaming(spark, command(bootstrap, topic, tmp_path, "--every", "0.2")) as query:
        wait_until(query, lambda: read_so_far(query) == 100)
        scene.grow(topic, 3)
        for partition in (1, 2):
            first = 100 * partition
            scene.send(topic, events(first, first + 100), partition=partition)
        wait_until(query, lambda: read_so_far(query) == 300)

    assert numbers(spark, tmp_path) == list(range(300))


@pytest.fixture
def expiring(scene, topic):
    """2000 old records in many segments, kept for ever so far, and 100 new ones."""
    scene.create(topic, f"{topic}-dead", segment_ms="500", retention_ms="-1")
    for first in range(0, 2000, 100):
        at = 1_600_000_000_000 + 1000 * first  # far enough apart to roll a segment each time
        scene.send(topic, [(k, v, {}, at) for k, v in events(first, first + 100)])
    scene.send(topic, events(2000, 2100))
    return topic


def expire(scene, topic):
    """Old records may go; wait until the first of them are gone, far beyond what was read."""
    scene.configure(topic, retention_ms="3600000")
    deadline = time.monotonic() + PATIENCE_S
    while scene.log_start(topic) < 1500:
        assert time.monotonic() < deadline, "the broker does not expire segments"
        time.sleep(0.1)


def test_a_stream_fails_if_records_expire_before_it_has_read_them(
    spark, scene, bootstrap, expiring, tmp_path
):
    words = command(
        *(bootstrap, expiring, tmp_path, "--every", "2", "--max-offsets-per-trigger", "100")
    )
    queries = start_streams(spark, parser().parse_args(words))
    wait_until(queries[0], lambda: read_so_far(queries[0]) >= 100)
    expire(scene, expiring)

    with pytest.raises(FailedError) as raised:
        follow(queries)
    assert "\n" not in str(raised.value)
    assert not any(query.isActive for query in queries)


def test_a_stream_goes_on_without_expired_records_if_it_may(
    spark, scene, bootstrap, expiring, tmp_path
):
    words = command(bootstrap, expiring, tmp_path, "--allow-data-loss")
    slowly = ["--every", "2", "--max-offsets-per-trigger", "100"]
    with streaming(spark, [*words, *slowly]) as query:
        wait_until(query, lambda: read_so_far(query) >= 100)
        expire(scene, expiring)
        kept = scene.log_start(expiring)
        before = read_so_far(query)
        wait_until(query, lambda: read_so_far(query) > before)
    assert run([*words, "--once"]) == 0

    found = numbers(spark, tmp_path)
    assert len(found) == len(set(found)), "nothing came twice"
    assert found[:100] == list(range(100)), "what was read before is there"
    assert set(range(kept, 2100)) <= set(found), "and all that was left"
    assert len(found) < 2100, "and something was lost"
