"""Scenes from the life of consumer groups (KIP-848), as text, like those of classic groups.

Each file in consumer_transcripts/ is a scene of one group that reads the four partitions of
orders. The indented lines are everything that a line at the margin caused.

    a beats                a heartbeat, the first of which joins
    a, b and c beat        one after the other
    a leaves
    e joins as a classic   a member of the old protocol: it joins and asks for its assignment
    e asks                 its heartbeat, and the join if it is told to
    1.5s pass
    the interval is 3s     consumer.assignment.interval.ms of the group
    the coordinator fails over

Run with WRITE_TRANSCRIPTS=1 to write down what happens now, and read the difference.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kbroker.groups.consumer_group import ConsumerGroup
from kbroker.groups.group_records import decode_record
from kbroker.groups.settings import GroupSettings
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_metadata_record import ConsumerGroupMetadataValue
from kbroker.wire.messages.consumer_group_target_assignment_metadata_record import (
    ConsumerGroupTargetAssignmentMetadataValue,
)
from tests.groups.consumer_bench import GROUP, Bench, Topics
from tests.groups.consumer_clients import ClassicConsumer, Consumer

SCENES = sorted(Path(__file__).with_name("consumer_transcripts").glob("*.txt"))


class Scene:
    """Consumers with names of one letter, on a bench with Kafka's defaults."""

    def __init__(self) -> None:
        self.bench = Bench(Topics(orders=4), GroupSettings(initial_rebalance_delay_ms=0))
        self.consumers: dict[str, Consumer] = {}
        self.classics: dict[str, ClassicConsumer] = {}
        self.seen = 0

    def play(self, script: str) -> str:
        """The script again, with what really happens."""
        lines: list[str] = []
        for line in script.splitlines():
            if line.startswith("  "):
                continue
            lines.append(line)
            if line and not line.startswith("#"):
                lines += [f"  {each}" for each in self.happen(line)]
        return "\n".join(lines) + "\n"

    def happen(self, line: str) -> list[str]:
        told: list[str] = []
        if match := re.fullmatch(r"([\d.]+)s pass(?:es)?", line):
            self.bench.advance(float(match[1]))
        elif match := re.fullmatch(r"the interval is ([\d.]+)s", line):
            interval_ms = int(float(match[1]) * 1000)
            self.bench.settings = replace(
                self.bench.settings, consumer_assignment_interval_ms=interval_ms
            )
            self.bench.groups.configure(self.bench.settings)
        elif line == "the coordinator fails over":
            self.bench.reload(compact=True)
            self.seen = len(self.bench.log)
        elif match := re.fullmatch(r"(.*) beats?", line):
            for name in re.findall(r"\b[a-z]\b", match[1]):
                answer = self.beats(name)
                told += [*self.written(), answer]
        elif match := re.fullmatch(r"(\w) leaves", line):
            told.append(f"{match[1]}: {self.consumers.pop(match[1]).leave().name}")
        elif match := re.fullmatch(r"(\w) joins as a classic", line):
            self.classics[match[1]] = ClassicConsumer(self.bench, "orders")
            told += self.asks(match[1], is_new=True)
        else:
            told += self.asks(line.removesuffix(" asks"))
        return self.written() + told + self.state()

    def beats(self, name: str) -> str:
        consumer = self.consumers.get(name)
        if consumer is None:
            consumer = self.consumers[name] = Consumer(self.bench, name, "orders")
        error = consumer.beat()
        if error is not ErrorCode.NONE:
            return f"{name}: {error.name}"
        return f"{name}: epoch {consumer.epoch}, {_shown(consumer.reads)}"

    def asks(self, name: str, *, is_new: bool = False) -> list[str]:
        classic = self.classics[name]
        error = ErrorCode.REBALANCE_IN_PROGRESS if is_new else classic.beat()
        told = [] if is_new else [f"{name}: {error.name}"]
        if error is ErrorCode.REBALANCE_IN_PROGRESS:
            classic.join()
            synced = classic.sync()
            assert synced is not None  # nobody waits in a consumer group
            told.append(f"{name}: generation {classic.generation}, {synced.name}")
            told.append(f"{name}: {_shown(classic.owned)}")
        return told

    def written(self) -> list[str]:
        new, self.seen = self.bench.log[self.seen :], len(self.bench.log)
        lines = []
        for key, value in new:
            record = decode_record(key, value)
            assert record is not None
            if isinstance(record.value, ConsumerGroupMetadataValue):
                lines.append(f"written: group epoch {record.value.epoch}")
            elif isinstance(record.value, ConsumerGroupTargetAssignmentMetadataValue):
                lines.append(f"written: target of epoch {record.value.assignment_epoch}")
        return lines

    def state(self) -> list[str]:
        group = self.bench.groups.get(GROUP)
        return [f"({group.state.value})"] if isinstance(group, ConsumerGroup) else []


def _shown(reads: set[tuple[str, int]]) -> str:
    return "has " + (" ".join(str(partition) for _, partition in sorted(reads)) or "nothing")


@pytest.mark.parametrize("path", SCENES, ids=[path.stem for path in SCENES])
def test_a_scene_goes_as_it_is_written(path: Path):
    script = path.read_text()

    played = Scene().play(script)

    if os.environ.get("WRITE_TRANSCRIPTS"):
        path.write_text(played)
    assert played == script


def test_there_are_scenes():
    assert len(SCENES) >= 3
