"""A client as a program: one JSON object per line in, one per line out.

    {"verb": "produce", "topic": "t", "records": [{"value": "YQ==", ...}], "acks": "all", ...}
    {"ok": [0]}
    {"verb": "create_topic", "topic": "t", "partitions": 1, "configs": {}}
    {"error": "Topic 't' already exists.", "code": 36}

The verbs and their arguments are those of ``client.Client``; all arguments are always given. Bytes
are base64, null is null, a record is an object with the names of ``Sent`` or ``Received``, a tuple
is a list. ``code`` is the error code of Kafka's protocol, null where the client does not tell it.
A program that gets a verb it does not know answers an error as well. It ends when its input ends.
"""

import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from compat_tests.client import (
    BEGINNING,
    PATIENCE_S,
    READ_UNCOMMITTED,
    CompatError,
    Received,
    Sent,
)
from compat_tests.member_process import MemberCommand
from compat_tests.record_lines import received_from_json, sent_as_json

# Longer than any client waits by itself: who answers nothing in this time hangs.
_ANSWER_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class ClientProgram:
    """One client at one version: how it is started, and what it cannot do.

    ``serve`` are the words that start the program; the broker's address is added. ``member`` starts
    a member of a group (see ``member_events``), with ``--kind`` eager, cooperative or consumer.
    ``not_applicable`` maps scenarios that the client has no means for to the reason.
    """

    name: str
    version: str
    folder: str
    serve: Sequence[str]
    member: Sequence[str] = ()
    environment: Mapping[str, str] | None = None
    needs: Path | None = None
    installed_by: str = "make setup"
    not_applicable: Mapping[str, str] = field(default_factory=dict)
    # Some clients tell the coordinator that they leave although they mean to come back: their
    # static members are killed instead, which is what static membership is for.
    static_leaves_by_crash: bool = False

    @property
    def label(self) -> str:
        return f"{self.name} {self.version}"

    def require(self) -> None:
        """FileNotFoundError with the way out, if what the program needs is not there."""
        if self.needs is not None and not self.needs.exists():
            raise FileNotFoundError(f"{self.needs} is not there: run `{self.installed_by}`")

    def member_command(self, bootstrap: str, kind: str) -> MemberCommand:
        """How members of that kind are started."""

        def command(
            *, group: str, topic: str, session_timeout_ms: int, instance_id: str | None
        ) -> tuple[list[str], Mapping[str, str] | None]:
            words = [*self.member, "--bootstrap", bootstrap, "--group", group, "--topic", topic]
            words += ["--kind", kind, "--session-timeout-ms", str(session_timeout_ms)]
            if instance_id is not None:
                words += ["--instance-id", instance_id]
            return words, self.environment

        return command


class RunningProgram:
    """A started program, which is a ``client.Client``; a program that hangs is ended."""

    def __init__(self, program: ClientProgram, bootstrap: str, folder: Path) -> None:
        program.require()
        self._program = program
        self._stderr_file = folder / f"{program.label.replace(' ', '-')}.stderr.txt"
        with self._stderr_file.open("ab") as stderr:
            self._process = subprocess.Popen(
                [*program.serve, bootstrap],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=program.environment,
            )
        # Bounded by the protocol: a program answers once for each line that it is given.
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._strange: list[str] = []
        self._reader = threading.Thread(target=self._read, name=f"answers of {program.label}")
        self._reader.start()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def words(self) -> str:
        """What it said besides answers, for people."""
        stderr = self._stderr_file.read_text(errors="replace")
        return "\n".join([*self._strange[-20:], stderr])[-3000:]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End its input and wait; one that does not end by itself is killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(10.0)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process.stdout.close()

    def ask(self, verb: str, **arguments: object) -> Any:
        """The answer to one line; CompatError if it is a refusal, or if there is none."""
        line = json.dumps({"verb": verb, **arguments}) + "\n"
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
            answer = self._answers.get(timeout=_ANSWER_TIMEOUT_S)
        except (BrokenPipeError, queue.Empty) as error:
            self._process.kill()
            self._process.wait()
            raise CompatError(f"no answer to {verb} ({error!r}): {self.words}") from None
        if answer is None:
            self._process.wait()
            raise CompatError(f"the program ended at {verb}: {self.words}")
        if "error" in answer:
            raise CompatError(f"{verb}: {answer['error']}", answer.get("code"))
        return answer["ok"]

    def produce(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        acks: str = "all",
        compression: str = "none",
        idempotent: bool = False,
    ) -> list[int]:
        return self.ask(
            "produce",
            topic=topic,
            records=[sent_as_json(sent) for sent in records],
            acks=acks,
            compression=compression,
            idempotent=idempotent,
        )

    def consume(
        self,
        topic: str,
        count: int,
        *,
        start: int | str = BEGINNING,
        partition: int = 0,
        isolation: str = READ_UNCOMMITTED,
        wait_s: float = PATIENCE_S,
    ) -> list[Received]:
        answer = self.ask(
            "consume",
            topic=topic,
            count=count,
            start=start,
            partition=partition,
            isolation=isolation,
            wait_s=wait_s,
        )
        return [received_from_json(told) for told in answer]

    def consume_in_group(self, group: str, topic: str, count: int) -> list[Received]:
        answer = self.ask("consume_in_group", group=group, topic=topic, count=count)
        return [received_from_json(told) for told in answer]

    def watermarks(self, topic: str, partition: int = 0) -> tuple[int, int]:
        first, next_ = self.ask("watermarks", topic=topic, partition=partition)
        return first, next_

    def offset_for_time(self, topic: str, timestamp_ms: int) -> int | None:
        return self.ask("offset_for_time", topic=topic, timestamp_ms=timestamp_ms)

    def begin(
        self, producer: str, transactional_id: str, topic: str, records: Sequence[Sent]
    ) -> None:
        self.ask(
            "begin",
            producer=producer,
            transactional_id=transactional_id,
            topic=topic,
            records=[sent_as_json(sent) for sent in records],
        )

    def end(
        self,
        producer: str,
        *,
        commit: bool,
        group: str | None = None,
        topic: str | None = None,
        offset: int | None = None,
    ) -> None:
        self.ask("end", producer=producer, commit=commit, group=group, topic=topic, offset=offset)

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None:
        self.ask("create_topic", topic=topic, partitions=partitions, configs=dict(configs or {}))

    def delete_topic(self, topic: str) -> None:
        self.ask("delete_topic", topic=topic)

    def topics(self) -> set[str]:
        return set(self.ask("topics"))

    def leaders(self, topic: str) -> dict[int, int]:
        return _by_partition(self.ask("leaders", topic=topic))

    def create_partitions(self, topic: str, total: int) -> None:
        self.ask("create_partitions", topic=topic, total=total)

    def topic_configs(self, topic: str) -> dict[str, str | None]:
        return self.ask("topic_configs", topic=topic)

    def alter_topic_config(self, topic: str, name: str, value: str) -> None:
        self.ask("alter_topic_config", topic=topic, name=name, value=value)

    def delete_records(self, topic: str, before_offset: int) -> int:
        return self.ask("delete_records", topic=topic, before_offset=before_offset)

    def cluster(self) -> tuple[str, int, list[int]]:
        cluster_id, controller, brokers = self.ask("cluster")
        return cluster_id, controller, brokers

    def groups(self) -> set[str]:
        return set(self.ask("groups"))

    def group_offsets(self, group: str, topic: str) -> dict[int, int]:
        return _by_partition(self.ask("group_offsets", group=group, topic=topic))

    def delete_group(self, group: str) -> None:
        self.ask("delete_group", group=group)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            text = line.decode(errors="replace").strip()
            if text.startswith(('{"ok"', '{"error"', '{"code"')):
                self._answers.put(json.loads(text))
            elif text:
                self._strange.append(text[:500])  # a library that talks on the wrong channel
        self._answers.put(None)


def _by_partition(told: Mapping[str, int]) -> dict[int, int]:
    """JSON knows no numbers as keys."""
    return {int(partition): number for partition, number in told.items()}
