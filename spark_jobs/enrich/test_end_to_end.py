"""The join with a reference topic on a real broker, whose log is compacted and changes."""

import json
import time

import pytest

from spark_jobs.enrich.main import parser, start_stream
from spark_jobs.scene import text_headers


@pytest.fixture
def reference(scene, topic):
    """A topic that the broker has compacted, with gaps in its offsets, and a deleted key."""
    name = f"{topic}-reference"
    scene.create_compacted(name)
    return name


def wait_for(scene, topic, count):
    deadline = time.monotonic() + 60
    while len(found := scene.read(topic)) < count:
        assert time.monotonic() < deadline, f"{len(found)} records of {count}"
        time.sleep(0.2)
    return found


def test_records_meet_the_newest_reference_and_the_others_become_dead_letters(
    spark, scene, topic, bootstrap, reference, tmp_path
):
    scene.create(topic, f"{topic}-out", f"{topic}-dead")
    scene.send(topic, [("c1", '{"n": 1}'), ("c9", '{"n": 2}')])
    options = parser().parse_args(
        [
            *("--bootstrap", bootstrap, "--topics", topic, "--reference-topic", reference),
            *("--to", f"{topic}-out", "--dead-letter-topic", f"{topic}-dead"),
            *("--checkpoint", str(tmp_path), "--every", "0.2"),
        ]
    )
    query = start_stream(spark, options)
    try:
        [first] = wait_for(scene, f"{topic}-out", 1)
        [letter] = wait_for(scene, f"{topic}-dead", 1)
        # The reference changes while the stream runs.
        scene.send(reference, [("c1", '{"round": "new"}'), ("c9", '{"round": "back"}')])
        scene.send(topic, [("c1", '{"n": 3}'), ("c9", '{"n": 4}')])
        found = wait_for(scene, f"{topic}-out", 3)
    finally:
        query.stop()

    assert json.loads(first.record.value) == {"value": {"n": 1}, "reference": {"round": 19}}
    assert letter.record.key == b"c9"
    assert text_headers(letter)["dead-letter-reason"] == "the reference has no key c9"
    later = {each.record.key: json.loads(each.record.value) for each in found[1:]}
    assert later == {
        b"c1": {"value": {"n": 3}, "reference": {"round": "new"}},
        b"c9": {"value": {"n": 4}, "reference": {"round": "back"}},
    }
