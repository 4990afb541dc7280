"""kbroker produce and consume, on a real cluster."""

import json
import signal
import subprocess
import time

import pytest

from tests.cli.command import COMMAND


def consume(kbroker, topic, *arguments: str) -> list[str]:
    return kbroker.done("consume", topic, "--exit-at-end", *arguments)


def test_lines_come_back(kbroker, topic):
    kbroker.done("produce", topic, stdin="one\ntwo\n\nüml\n")

    assert consume(kbroker, topic) == ["one", "two", "", "üml"]


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_every_compression_comes_back(kbroker, topic, compression):
    lines = [f"line {number}" for number in range(2000)]
    kbroker.done("produce", topic, "--compression", compression, stdin="\n".join(lines))

    assert consume(kbroker, topic) == lines


def test_keys_headers_and_nulls_come_back(kbroker, topic):
    kbroker.done(
        *("produce", topic, "--key-separator", ":", "--null", "NIL"),
        *("--header", "source=test", "--header", "empty="),
        stdin="k1:v1\nk2:NIL\nNIL:v3\n",
    )

    assert consume(kbroker, topic, "--keys", "--headers") == [
        "source=test,empty=\tk1\tv1",
        "source=test,empty=\tk2\tnull",
        "source=test,empty=\tnull\tv3",
    ]


def test_json_tells_everything(kbroker, topic):
    before_ms = time.time_ns() // 1_000_000
    kbroker.done("produce", topic, "--key-separator", ":", "--header", "h=1", stdin="k:v\n")
    kbroker.done("produce", topic, stdin=b"\xff\xfe\n")

    first, second = map(json.loads, consume(kbroker, topic, "--json"))
    assert before_ms <= first.pop("timestamp_ms") <= time.time_ns() // 1_000_000
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "topic": topic,
        "partition": 0,
        "offset": 0,
        "headers": [["h", "1"]],
        "key": "k",
        "value": "v",
    }
    assert (second["offset"], second["key"]) == (1, None)
    assert second["value"] == {"base64": "//4="}


def test_bytes_that_are_no_text_are_not_touched(kbroker, topic, tmp_path):
    (tmp_path / "input").write_bytes(b"\xff\x00\x80\n")
    kbroker.done("produce", topic, "--file", str(tmp_path / "input"))
    result = subprocess.run(
        [*COMMAND, "consume", topic, "--exit-at-end"],
        capture_output=True,
        timeout=60,
        check=True,
        env=kbroker.environment,
    )

    assert result.stdout == b"\xff\x00\x80\n"


def test_reading_begins_at_an_offset_or_a_time(kbroker, topic):
    kbroker.done("produce", topic, stdin="old-0\nold-1\n")
    time.sleep(0.01)
    between_ms = time.time_ns() // 1_000_000
    kbroker.done("produce", topic, stdin="new-2\nnew-3\n")
    between = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(between_ms // 1000))
    between += f".{between_ms % 1000:03d}Z"

    assert consume(kbroker, topic, "--from", "3") == ["new-3"]
    assert consume(kbroker, topic, "--from", f"@{between_ms}") == ["new-2", "new-3"]
    assert consume(kbroker, topic, "--from", between) == ["new-2", "new-3"]
    assert consume(kbroker, topic, "--from", "end") == []
    assert len(consume(kbroker, topic, "--from", "beginning", "--timestamps")) == 4
    assert kbroker.done("consume", topic, "--from", "beginning", "--max", "3") == [
        "old-0",
        "old-1",
        "new-2",
    ]


def test_partitions_are_written_and_read_apart(kbroker, name):
    kbroker.done("topics", "create", name, "--partitions", "3")
    for partition in ("0", "1", "2"):
        kbroker.done("produce", name, "--partition", partition, stdin=f"p{partition}\n")

    assert consume(kbroker, name, "--partition", "1") == ["p1"]
    assert sorted(consume(kbroker, name, "--partition", "0", "--partition", "2")) == ["p0", "p2"]
    assert sorted(consume(kbroker, name)) == ["p0", "p1", "p2"]
    assert sorted(consume(kbroker, name, "--isolation", "read_committed")) == ["p0", "p1", "p2"]


def test_lines_before_a_bad_one_are_written(kbroker, topic):
    ended = kbroker("produce", topic, "--key-separator", ":", stdin="a:1\nb:2\nbad\nc:3\n")

    assert ended.exit_code == 2
    assert ended.complaint == "kbroker: line 3 has no separator ':'\n"
    assert consume(kbroker, topic) == ["1", "2"]


def test_refusals_are_one_line(kbroker, topic):
    for arguments, complaint in (
        (["consume", "nowhere"], "nowhere: there is no such topic or partition"),
        (["consume", topic, "--partition", "9"], f"{topic}: the topic has no partition 9"),
        (["produce", topic, "--partition", "9"], f"{topic}: the topic has no partition 9"),
    ):
        ended = kbroker(*arguments)
        assert ended.exit_code == 1
        assert ended.complaint == f"kbroker: {complaint} (UNKNOWN_TOPIC_OR_PARTITION)\n"

    ended = kbroker("consume", topic, "--from", "77")
    assert ended.exit_code == 1
    assert ended.complaint.endswith("(OFFSET_OUT_OF_RANGE)\n")


def test_a_typed_line_is_written_before_the_next_is_typed(kbroker, topic):
    producing = subprocess.Popen(
        [*COMMAND, "produce", topic], stdin=subprocess.PIPE, env=kbroker.environment
    )
    assert producing.stdin is not None
    producing.stdin.write(b"typed\n")
    producing.stdin.flush()
    try:
        assert kbroker.done("consume", topic, "--from", "beginning", "--max", "1") == ["typed"]
        assert producing.poll() is None
    finally:
        producing.stdin.close()
        assert producing.wait(30) == 0


def test_following_prints_new_records_until_ctrl_c(kbroker, topic):
    kbroker.done("produce", topic, stdin="first\n")
    following = kbroker.start("consume", topic, "--from", "beginning", "--follow")
    with following:
        assert following.stdout is not None
        assert following.stdout.readline() == b"first\n"
        kbroker.done("produce", topic, stdin="second\n")
        assert following.stdout.readline() == b"second\n"
        following.send_signal(signal.SIGINT)
        rest, complaint = following.communicate(timeout=30)

    assert (following.returncode, rest, complaint) == (130, b"", b"")


def test_a_reader_that_goes_away_ends_the_command_quietly(kbroker, topic):
    kbroker.done("produce", topic, stdin="x" * 1000 + "\n")
    lines = "".join(f"{number:0200}\n" for number in range(5000))
    kbroker.done("produce", topic, stdin=lines)
    reading = kbroker.start("consume", topic, "--from", "beginning")
    with reading:
        assert reading.stdout is not None
        reading.stdout.readline()
        reading.stdout.close()
        assert reading.stderr is not None
        complaint = reading.stderr.read()
        exit_code = reading.wait(30)

    assert (exit_code, complaint) == (141, b"")
