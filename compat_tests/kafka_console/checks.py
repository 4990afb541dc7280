"""kafka-console creates, writes, reads, copies and deletes, and tells how far a group is behind."""

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from compat_tests.python_programs import ROOT

_FOLDER = ROOT / ".cache" / "kafka_console" / "node_modules"
_TOOL = _FOLDER / "kafka-console" / "build" / "cli.js"
# A Node.js of its own is there where the system's is too old for the tool.
_OWN_NODE = _FOLDER / "node" / "bin" / "node"

_PATIENCE_S = 20.0


def _record(n: int) -> dict[str, object]:
    return {"key": f"key {n % 5}", "value": f"value {n}", "headers": {"n": f"{n}"}}


class Console:
    """The tool on one broker; each of its words is a process."""

    def __init__(self, bootstrap: str) -> None:
        if not _TOOL.exists():
            raise FileNotFoundError(f"{_TOOL} is not there: run `make console`")
        node = str(_OWN_NODE) if _OWN_NODE.exists() else "node"
        self._command = [node, str(_TOOL), "--brokers", bootstrap]

    def run(self, *words: str, lines: Sequence[object] = ()) -> list[Any]:
        """What it prints, a JSON value for each line; AssertionError if it does not end well."""
        given = "".join(json.dumps(line) + "\n" for line in lines)
        ended = subprocess.run(
            [*self._command, *words],
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert ended.returncode == 0, f"{words}: {ended.stderr}"
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def offsets(self, topic: str) -> dict[int, int]:
        """The next offset of each partition."""
        told = self.run("topic:offsets", topic)
        return {each["partition"]: int(each["high"]) for each in told}

    def committed(self, topic: str, group: str) -> dict[int, int]:
        [told] = self.run("topic:offsets", topic, "--group", group)
        return {each["partition"]: int(each["offset"]) for each in told["partitions"]}

    def until(self, condition: Callable[[set[str]], bool]) -> None:
        """Wait for what is true of the topics soon: Apache Kafka answers before all of it knows."""
        deadline = time.monotonic() + _PATIENCE_S
        while not condition(topics := set(self.run("list"))):
            assert time.monotonic() < deadline, f"it does not become true: {topics}"


def topics_records_and_groups(bootstrap: str, folder: Path) -> None:
    """A topic is created, filled with gzip, read by a group whose lag is told, copied, deleted."""
    console = Console(bootstrap)
    topic = f"console-{uuid4().hex[:8]}"
    [created] = console.run("topic:create", topic, "--partitions", "2")
    assert (created["name"], created["partitions"]) == (topic, 2)
    console.until(lambda topics: topic in topics)
    console.run("produce", topic, "--compression", "gzip", lines=[_record(n) for n in range(40)])
    assert sum(console.offsets(topic).values()) == 40

    _read_by_a_group(console, topic)

    copy = f"{topic}-copy"
    console.run("topic:create", copy)
    console.until(lambda topics: copy in topics)
    console.run("topic:copy", topic, copy)
    assert console.offsets(copy) == {0: 43}
    for name in (topic, copy):
        console.run("topic:delete", name)
    console.until(lambda topics: not {topic, copy} & topics)


def _read_by_a_group(console: Console, topic: str) -> None:
    read = console.run("consume", topic, "--group", topic, "--snapshot")
    told = {each["value"]: {name: each[name] for name in _record(0)} for each in read}
    assert len(read) == 40
    assert told == {f"value {n}": _record(n) for n in range(40)}
    assert console.committed(topic, topic) == console.offsets(topic)

    console.run("produce", topic, lines=[_record(n) for n in range(3)])
    lag = sum(console.offsets(topic).values()) - sum(console.committed(topic, topic).values())
    assert lag == 3
