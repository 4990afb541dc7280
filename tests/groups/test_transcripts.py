"""Scenes from the life of classic groups, as text: what members do, and what comes of it.

Each file in transcripts/ is a scene. A line that starts at the margin is something that happens;
the indented lines below it are everything that it caused, answers and records. The whole text is
compared, so nothing can happen that is not written there.

    a joins [as v3] [static i1] [with range sticky] [for orders bills]
    a joins anew                      a new process, which does not remember its id
    a syncs a=0,1 b=2 [generation 1]  the leader says who gets what
    a beats [generation 1]            a sends a heartbeat
    a leaves
    a commits orders-0 5 [generation 1] [through p]   p is a producer with a transaction
    p ends committed                  or aborted: the marker of its transaction
    a asks orders-0                   where to go on, if that is sure
    10s pass
    the coordinator fails over

Run with WRITE_TRANSCRIPTS=1 to write down what happens now, and read the difference.
"""

import os
import re
from pathlib import Path

import pytest

from kbroker.groups import GroupRecord
from kbroker.wire import ErrorCode, Message
from kbroker.wire.messages.join_group import JoinGroupResponse
from kbroker.wire.messages.offset_commit_record import OffsetCommitKey
from kbroker.wire.messages.sync_group import SyncGroupResponse
from tests.groups.bench import Bench, subscription

SCENES = sorted(Path(__file__).with_name("transcripts").glob("*.txt"))


class Scene:
    """Members with one-word names, on a bench."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.ids: dict[str, str] = {}
        self.instances: dict[str, str] = {}
        self.generations: dict[str, int] = {}
        self.waiting: dict[int, str] = {}
        self.producers: dict[str, int] = {}
        self.written = 0

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
        seen: list[str] = []
        if match := re.fullmatch(r"([\d.]+)s pass(?:es)?", line):
            self.bench.wait(float(match[1]))
        elif line == "the coordinator fails over":
            lost = sorted(self.waiting.values())
            self.waiting.clear()
            self.bench.restart()
            seen += [f"{name} is not answered" for name in lost]
        else:
            name, verb, *words = line.split()
            seen += getattr(self, verb)(name, words) or []
        return self.records() + seen + self.answers() + [f"({self.bench.state()})"]

    # --- what members do -------------------------------------------------------------

    def joins(self, name: str, words: list[str]) -> None:
        options = _options(words)
        if "anew" in words:
            self.ids.pop(name, None)
        if "static" in options:
            self.instances[name] = options["static"][0]
        metadata = subscription(*options.get("for", ["orders"]))
        protocols = [(each, metadata) for each in options.get("with", ["range"])]
        version = int(options["as"][0].removeprefix("v")) if "as" in options else 9
        ticket = self.bench.join(
            self.ids.get(name, ""),
            instance=self.instances.get(name),
            version=version,
            protocols=protocols,
            client=name,
        )
        self.waiting[ticket] = name

    def syncs(self, name: str, words: list[str]) -> None:
        options = _options(words)
        assignments = dict(each.split("=") for each in words if "=" in each)
        ticket = self.bench.sync(
            self.ids[name],
            self._generation(name, options),
            {self.ids[each]: given.encode() for each, given in assignments.items()},
            instance=self.instances.get(name),
            protocol_name=None,
            protocol_type=None,
            version=4,
        )
        self.waiting[ticket] = name

    def beats(self, name: str, words: list[str]) -> list[str]:
        generation = self._generation(name, _options(words))
        instance = self.instances.get(name)
        return [_named(self.bench.heartbeat(self.ids[name], generation, instance=instance))]

    def leaves(self, name: str, _words: list[str]) -> list[str]:
        return [_named(self.bench.leave(self.ids[name]).members[0].error_code)]

    def commits(self, name: str, words: list[str]) -> list[str]:
        options = _options(words)
        offsets = {_partition(words[0]): int(words[1])}
        claims = {
            "member_id": self.ids[name],
            "generation": self._generation(name, options),
            "instance": self.instances.get(name),
        }
        if "through" not in options:
            return [_named(self.bench.commit(offsets, **claims))]
        producer_id = self._producer_id(options["through"][0])
        return [_named(self.bench.commit_in_transaction(producer_id, offsets, **claims))]

    def ends(self, name: str, words: list[str]) -> None:
        self.bench.end(self._producer_id(name), commit=words == ["committed"])

    def asks(self, _name: str, words: list[str]) -> list[str]:
        (topic,) = self.bench.fetch(_partition(words[0])).topics
        code = topic.partitions[0].error_code
        return [_named(code) if code else f"offset {topic.partitions[0].committed_offset}"]

    def _producer_id(self, name: str) -> int:
        return self.producers.setdefault(name, 1_000 + len(self.producers))

    def _generation(self, name: str, options: dict[str, list[str]]) -> int:
        if "generation" in options:
            return int(options["generation"][0])
        return self.generations.get(name, 0)

    # --- what comes of it --------------------------------------------------------------

    def answers(self) -> list[str]:
        told = []
        for ticket, name in sorted(self.waiting.items()):
            if ticket in self.bench.answers:
                del self.waiting[ticket]
                told.append(f"{name}: {self._told(name, self.bench.answers[ticket])}")
        return told

    def _told(self, name: str, answer: Message) -> str:
        if isinstance(answer, SyncGroupResponse):
            return _named(answer.error_code) if answer.error_code else _gets(answer.assignment)
        assert isinstance(answer, JoinGroupResponse)
        if answer.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.ids[name] = answer.member_id
        if answer.error_code:
            return f"{_named(answer.error_code)} {answer.member_id}".rstrip()
        self.ids[name] = answer.member_id
        self.generations[name] = answer.generation_id
        told = f"{answer.member_id} in generation {answer.generation_id}, {answer.protocol_name}"
        told += f", {answer.leader} leads"
        if answer.members:
            told += " " + " ".join(each.member_id for each in answer.members)
        return told + (", no assignment needed" if answer.skip_assignment else "")

    def records(self) -> list[str]:
        records = self.bench.records()
        new, self.written = records[self.written :], len(records)
        first = self.written - len(new)
        return [
            f"written: {_shown(record)}{self._inside(first + number)}"
            for number, record in enumerate(new)
        ]

    def _inside(self, place: int) -> str:
        producer_id = self.bench.producers.get(place)
        names = [name for name, known in self.producers.items() if known == producer_id]
        return f" in the transaction of {names[0]}" if names else ""


def _options(words: list[str]) -> dict[str, list[str]]:
    """Every keyword with the words behind it."""
    options: dict[str, list[str]] = {}
    behind: list[str] = []
    for word in words:
        if word in ("as", "static", "with", "for", "generation", "through"):
            behind = options[word] = []
        else:
            behind.append(word)
    return options


def _partition(text: str) -> tuple[str, int]:
    topic, partition = text.split("-")
    return topic, int(partition)


def _named(code: int) -> str:
    return ErrorCode(code).name


def _gets(assignment: bytes) -> str:
    return f"gets {assignment.decode()}" if assignment else "gets nothing"


def _shown(record: GroupRecord) -> str:
    if isinstance(record.key, OffsetCommitKey):
        return f"offset {record.value.offset} of {record.key.topic}-{record.key.partition}"
    members = " ".join(
        f"{each.member_id}={each.assignment.decode()}" for each in record.value.members
    )
    return f"generation {record.value.generation}, {members or 'nobody'}"


@pytest.mark.parametrize("path", SCENES, ids=[path.stem for path in SCENES])
def test_a_scene_goes_as_it_is_written(path):
    script = path.read_text()

    played = Scene().play(script)

    if os.environ.get("WRITE_TRANSCRIPTS"):
        path.write_text(played)
    assert played == script


def test_there_are_scenes():
    assert len(SCENES) >= 6
