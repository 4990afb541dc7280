"""kcat in the words that all clients share, as far as its command line can say them.

Each verb is one call of ``kcat`` or a few. It tells no offsets of what it sends, takes no times
and knows no administration; so it is mostly a reader here.
"""

import json
import re
import subprocess
import time
from collections.abc import Sequence
from itertools import groupby

from compat_tests.client import (
    BEGINNING,
    LARGE_BYTES,
    PATIENCE_S,
    READ_UNCOMMITTED,
    CompatError,
    Received,
    Sent,
)

# Bytes between key and value, and between records: no record that kcat is given has them.
_KEY_DELIMITER = "\x1f"
_RECORD_DELIMITER = "\x1e"
# Lengths first, so that bytes need no quoting; -1 is null.
_FORMAT = "%p %o %T %K %S\\n%k%s"


class Kcat:
    """The tool against one cluster."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def produce(
        self,
        topic: str,
        records: Sequence[Sent],
        *,
        acks: str = "all",
        compression: str = "none",
        idempotent: bool = False,
    ) -> list[int]:
        assert not idempotent, "kcat tells no offsets, so nothing could be said about it"
        for partition, sent in groupby(records, lambda each: each.partition):
            lines = [
                (each.key or b"") + _KEY_DELIMITER.encode() + (each.value or b"") for each in sent
            ]
            self._run(
                *("-P", "-t", topic, "-p", str(partition), "-z", compression),
                *("-X", f"acks={acks}", "-X", f"message.max.bytes={LARGE_BYTES}"),
                *("-K", _KEY_DELIMITER, "-D", _RECORD_DELIMITER),
                stdin=_RECORD_DELIMITER.encode().join(lines),
            )
        return []

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
        output = self._run(
            *("-C", "-q", "-t", topic, "-p", str(partition), "-o", str(start), "-c", str(count)),
            *("-X", f"isolation.level={isolation}", "-X", "auto.offset.reset=error"),
            *("-X", f"fetch.message.max.bytes={LARGE_BYTES}", "-f", _FORMAT),
            timeout_s=wait_s,
        )
        return _received(output)

    def consume_in_group(self, group: str, topic: str, count: int) -> list[Received]:
        output = self._run(
            *("-q", "-c", str(count), "-X", "auto.offset.reset=earliest", "-f", _FORMAT),
            *("-G", group, topic),
        )
        return _received(output)

    def watermarks(self, topic: str, partition: int = 0) -> tuple[int, int]:
        return self._offset(topic, partition, -2), self._offset(topic, partition, -1)

    def offset_for_time(self, topic: str, timestamp_ms: int) -> int | None:
        offset = self._offset(topic, 0, timestamp_ms)
        return None if offset < 0 else offset

    def _offset(self, topic: str, partition: int, timestamp_ms: int) -> int:
        """What ``kcat -Q`` prints: topic [partition] offset N."""
        output = self._run("-Q", "-t", f"{topic}:{partition}:{timestamp_ms}").decode()
        found = re.search(r"offset (-?\d+)", output)
        if found is None:
            raise CompatError(output)
        return int(found[1])

    def topics(self) -> set[str]:
        return {topic["topic"] for topic in self._listed()["topics"]}

    def leaders(self, topic: str) -> dict[int, int]:
        [described] = self._listed("-t", topic)["topics"]
        return {each["partition"]: each["leader"] for each in described["partitions"]}

    def _listed(self, *words: str) -> dict:
        return json.loads(self._run("-L", "-J", *words))

    def _run(self, *words: str, stdin: bytes = b"", timeout_s: float = PATIENCE_S) -> bytes:
        """What kcat prints until it ends or the time is over; CompatError if it fails."""
        process = subprocess.Popen(
            ["kcat", "-b", self._bootstrap, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            output, errors = process.communicate(stdin, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.terminate()
            time.sleep(0.1)
            process.kill()
            output, _ = process.communicate()
            return output
        if process.returncode != 0:
            raise CompatError(errors.decode(errors="replace").strip())
        return output


def _received(output: bytes) -> list[Received]:
    found = []
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        partition, offset, timestamp_ms, key_size, size = map(int, output[position:end].split())
        key_end = end + 1 + max(key_size, 0)
        position = key_end + max(size, 0)
        found.append(
            Received(
                offset,
                output[key_end:position] if size >= 0 else None,
                output[end + 1 : key_end] if key_size >= 0 else None,
                (),
                timestamp_ms,
                None,
                partition,
            )
        )
    return found


def parts(bootstrap: str) -> tuple[Kcat]:
    """For ``compat_tests.serve``."""
    return (Kcat(bootstrap),)
