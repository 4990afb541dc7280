"""What a scenario is given: the client under test, a fresh name, a helper that is known good."""

import re
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from compat_tests.client import PATIENCE_S, Client, CompatError, Received, Sent
from compat_tests.confluent_kafka.adapter import ConfluentAdmin, ConfluentClient
from compat_tests.program import ClientProgram

_Value = TypeVar("_Value")

# A moment long before every test: nobody's clock comes near it.
EARLIER_MS = 1_600_000_000_000


@dataclass(frozen=True)
class Stage:
    """One run of one scenario.

    ``name`` is free for a topic, a group or a transactional id: nobody else uses it, also not as
    the beginning of a longer one. ``helper`` and ``helper_admin`` are confluent-kafka: what is not
    the matter of a scenario, such as a topic with a config, is done by them.
    """

    client: Client
    program: ClientProgram
    bootstrap: str
    name: str
    folder: Path
    data_dir: Path

    @property
    def helper(self) -> ConfluentClient:
        return ConfluentClient(self.bootstrap)

    @property
    def helper_admin(self) -> ConfluentAdmin:
        return ConfluentAdmin(self.bootstrap)

    def new_topic(self, *, partitions: int = 1, **configs: str) -> str:
        """A topic that is there; configs are written with underscores."""
        named = {name.replace("_", "."): value for name, value in configs.items()}
        self.helper_admin.create_topic(self.name, partitions=partitions, configs=named)
        # Clients that do not retry want a leader that knows that it is one.
        for partition in range(partitions):
            self.soon(lambda asked=partition: self.helper.watermarks(self.name, asked), (0, 0))
        return self.name

    def batches(self, topic: str, partition: int = 0) -> list["Batch"]:
        """The batches of a partition as they lie on the broker's disk."""
        folder = self.data_dir / f"{topic}-{partition}"
        log = b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))
        return list(_batches(log))

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for what is true soon: Apache Kafka answers before all of it knows."""
        deadline = time.monotonic() + PATIENCE_S
        while not _holds(condition):
            assert time.monotonic() < deadline, "it does not become true"
            time.sleep(0.05)

    def soon(self, question: Callable[[], _Value], wanted: _Value) -> None:
        """The answer becomes ``wanted``; AssertionError with the last one otherwise."""
        answers: list[object] = []

        def same() -> bool:
            answers[:] = ["no answer"]
            answers[:] = [question()]
            return answers == [wanted]

        try:
            self.until(same)
        except AssertionError:
            raise AssertionError(f"{answers[0]!r} instead of {wanted!r}") from None

    @contextmanager
    def refused(self, code: int, words: str) -> Iterator[None]:
        """The client must raise ``code``, or say ``words`` (a pattern) if it knows no codes."""
        refusal: CompatError | None = None
        try:
            yield
        except CompatError as error:
            refusal = error
        assert refusal is not None, f"not refused with {code}, {words}"
        said = refusal.code == code or re.search(words, str(refusal), re.IGNORECASE)
        assert said, f"{refusal} (code {refusal.code}) instead of {code}, {words}"


@dataclass(frozen=True, slots=True)
class Batch:
    """What the header of a batch says."""

    base_offset: int
    last_offset: int
    attributes: int
    producer_id: int
    producer_epoch: int
    base_sequence: int

    @property
    def compression(self) -> int:
        return self.attributes & 7


def _batches(log: bytes) -> Iterator[Batch]:
    position = 0
    while position + 61 <= len(log):
        base_offset, size = struct.unpack_from(">qi", log, position)
        if size <= 0:
            return
        attributes, last_offset_delta = struct.unpack_from(">hi", log, position + 21)
        producer = struct.unpack_from(">qhi", log, position + 43)
        yield Batch(base_offset, base_offset + last_offset_delta, attributes, *producer)
        position += 12 + size


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except Exception:
        return False


def numbered(count: int, *, partition: int = 0) -> list[Sent]:
    """Records that can be told apart, and that compression finds something in."""
    return [Sent(b"value %06d " % n * 4, b"key %d" % n, partition=partition) for n in range(count)]


def as_received(records: Sequence[Sent], *, first_offset: int = 0) -> list[Received]:
    """What a consumer must see of ``records``."""
    return [
        Received(offset, sent.value, sent.key, sent.headers, partition=sent.partition)
        for offset, sent in enumerate(records, first_offset)
    ]
