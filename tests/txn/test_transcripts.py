"""Scenes from the life of transactional ids, as text: what producers do, and what comes of it.

Each file in transcripts/ is a scene. A line that starts at the margin is something that happens;
the indented lines below it are everything that it caused, answers, records and markers. The whole
text is compared, so nothing can happen that is not written there.

    a inits [x] [timeout 60]     a producer begins, or begins again; x is its transactional id
    a recovers                   the same with the producer id and epoch that it has (KIP-360)
    a adds t-0 t-1               partitions become part of its transaction
    a verifies t-0               a partition asks whether it is
    a commits, a aborts          it ends its transaction
    ... as v1                    in version 1 of the protocol; version 2 unless told
    a forgets                    it has not seen the last answer, and goes on with what it had
    markers are written          all that were ordered
    10s pass
    the coordinator fails over

Run with WRITE_TRANSCRIPTS=1 to write down what happens now, and read the difference.
"""

import os
import re
from pathlib import Path

import pytest

from kbroker.model import TopicPartition
from kbroker.txn import TransactionRecord, Writer, decode_record
from kbroker.wire import ErrorCode
from tests.txn.bench import Bench

SCENES = sorted(Path(__file__).with_name("transcripts").glob("*.txt"))


class Scene:
    """Producers with one-word names, on a bench."""

    def __init__(self) -> None:
        self.bench = Bench()
        self.writers: dict[str, Writer] = {}
        self.before: dict[str, Writer] = {}
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
            self.bench.restart()
        elif line == "markers are written":
            for place, epoch, committed in self.bench.write_markers():
                verb = "commit" if committed else "abort"
                seen.append(f"marker on {place}: {verb} with epoch {epoch}")
        else:
            name, verb, *words = line.split()
            version = 0 if words[-2:] == ["as", "v1"] else 2
            seen += getattr(self, verb)(name, words if version else words[:-2], version)
        return seen + self.records()

    # --- what producers do -----------------------------------------------------------

    def inits(self, name: str, words: list[str], _version: int) -> list[str]:
        transactional_id = words[0] if words and words[0] != "timeout" else "x"
        timeout_s = int(words[-1]) if "timeout" in words else 60
        answer = self.bench.init(transactional_id, timeout_ms=timeout_s * 1000)
        return self._given(name, transactional_id, answer)

    def recovers(self, name: str, _words: list[str], _version: int) -> list[str]:
        writer = self.writers[name]
        answer = self.bench.init(
            writer.transactional_id,
            producer_id=writer.producer_id,
            producer_epoch=writer.producer_epoch,
        )
        return self._given(name, writer.transactional_id, answer)

    def adds(self, name: str, words: list[str], version: int) -> list[str]:
        code = self.bench.add(self.writers[name], *map(_place, words), version=version)
        return [code.name]

    def verifies(self, name: str, words: list[str], _version: int) -> list[str]:
        return [self.bench.verify(self.writers[name], _place(words[0])).name]

    def commits(self, name: str, _words: list[str], version: int) -> list[str]:
        answer = self.bench.end(self.writers[name], commit=True, version=version)
        return self._given(name, self.writers[name].transactional_id, answer)

    def aborts(self, name: str, _words: list[str], version: int) -> list[str]:
        answer = self.bench.end(self.writers[name], commit=False, version=version)
        return self._given(name, self.writers[name].transactional_id, answer)

    def forgets(self, name: str, _words: list[str], _version: int) -> list[str]:
        self.writers[name] = self.before[name]
        return []

    def _given(self, name: str, transactional_id: str, answer) -> list[str]:
        if answer.error_code:
            return [ErrorCode(answer.error_code).name]
        if name in self.writers:
            self.before[name] = self.writers[name]
        self.writers[name] = Writer(transactional_id, answer.producer_id, answer.producer_epoch)
        return [f"{name} has id {answer.producer_id}, epoch {answer.producer_epoch}"]

    # --- what comes of it --------------------------------------------------------------

    def records(self) -> list[str]:
        new = self.bench.log[self.written :]
        self.written = len(self.bench.log)
        decoded = [decode_record(*each) for each in new]
        return [f"written: {_told(record)}" for record in decoded if record is not None]


def _place(text: str) -> TopicPartition:
    topic, _, partition = text.partition("-")
    return TopicPartition(topic, int(partition))


def _told(record: TransactionRecord) -> str:
    transaction = record.transaction
    if transaction is None:
        return f"{record.transactional_id} is forgotten"
    places = " ".join(str(place) for place in sorted(transaction.partitions))
    told = (
        f"{record.transactional_id} {transaction.state.title}"
        f" {transaction.producer_id}/{transaction.producer_epoch}"
    )
    if transaction.next_producer_id >= 0:
        told += f" next {transaction.next_producer_id}"
    return f"{told} {places}".rstrip()


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_a_scene_goes_as_written(path: Path):
    script = path.read_text()
    played = Scene().play(script)
    if os.environ.get("WRITE_TRANSCRIPTS"):
        path.write_text(played)
    assert played == script


def test_there_are_scenes():
    assert len(SCENES) >= 5
