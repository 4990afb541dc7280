"""A member of a group as a process of its own: it can leave in good order, and it can be killed."""

import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from compat_tests.member_events import Life, parse

# A JVM that was just started may take its time on two busy cores.
_STOP_TIMEOUT_S = 30.0


class MemberCommand(Protocol):
    """How a client's member is started."""

    def __call__(
        self, *, group: str, topic: str, session_timeout_ms: int, instance_id: str | None
    ) -> tuple[list[str], Mapping[str, str] | None]:
        """The command, and its environment if it needs one of its own."""
        ...


class MemberProcess:
    """A program that prints events; `life` grows while it runs."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.life = Life(name)
        self._stderr_file = folder / f"{name}.stderr.txt"
        with self._stderr_file.open("ab") as stderr:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=environment,
            )
        self._strange: list[str] = []
        self._reader = threading.Thread(target=self._read, name=f"events of {name}")
        self._reader.start()

    @property
    def words(self) -> str:
        """What it said besides events, for people."""
        stderr = self._stderr_file.read_text(errors="replace")
        return "\n".join([*self._strange, stderr])[-3000:]

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def leave(self) -> None:
        """SIGTERM, and wait; AssertionError with its words if it does not end in good order."""
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.crash()
            raise AssertionError(f"SIGTERM did not end {self.life.name}:\n{self.words}") from None
        self._end()
        # A JVM that ran its shutdown hooks still says that it was a signal.
        assert code in (0, 128 + signal.SIGTERM), f"{code}: {self.words}"

    def crash(self) -> None:
        """SIGKILL: nobody is told."""
        self._process.kill()
        self._process.wait()
        self._end()

    def _end(self) -> None:
        if self.life.ended_at_ms is None:
            self.life.ended_at_ms = int(time.time() * 1000)
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            text = line.decode(errors="replace").strip()
            if not text.startswith("{") or not text.endswith("}"):
                self._strange.append(text)  # also a line that a kill cut off
                continue
            event = parse(text)
            if event is not None:
                self.life.events.append(event)
