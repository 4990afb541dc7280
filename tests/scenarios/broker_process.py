"""A broker as users run it, for tests that kill it: ``kbroker start`` in a process of its own.

The port is chosen once and kept, so that clients which ride over a restart find the broker again.
What it says on stderr is kept in a file, over all restarts, and shown where a start or stop fails.
"""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

KBROKER = Path(sys.executable).parent / "kbroker"

# Python and all modules take under a second; the rest is for busy machines.
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0


class BrokerProcess:
    """One broker on one port and one data directory; `kill` and `start` it as often as you like.

    ``folder`` gets the ready file and the outputs, and the data too unless ``data_dir`` is given.
    Leaving a ``with`` kills what still runs: a test that wants a good end says `stop`.
    """

    def __init__(
        self, folder: Path, *, data_dir: Path | None = None, options: Sequence[str] = ()
    ) -> None:
        self._folder = folder
        self.data_dir = data_dir or folder / "data"
        self._options = list(options)
        self._process: subprocess.Popen[bytes] | None = None
        self.host = "127.0.0.1"
        self.port = free_port()

    @property
    def bootstrap(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "not running"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def stderr(self) -> str:
        """What the broker has said so far, in all its lives."""
        return (self._folder / "stderr.txt").read_text(errors="replace")

    @property
    def stdout(self) -> str:
        return (self._folder / "stdout.txt").read_text(errors="replace")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start and wait until it serves; RuntimeError with its words if it does not."""
        assert self._process is None, "already running"
        ready_file = self._folder / "ready"
        ready_file.unlink(missing_ok=True)
        command = [str(KBROKER), "start", "--data-dir", str(self.data_dir)]
        command += ["--listen", self.bootstrap, "--ready-file", str(ready_file), *self._options]
        with (
            (self._folder / "stdout.txt").open("ab") as stdout,
            (self._folder / "stderr.txt").open("ab") as stderr,
        ):
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not ready_file.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the broker does not serve:\n{self.stderr[-4000:]}")
            time.sleep(0.01)

    def kill(self) -> None:
        """End the process at once; the page cache survives, so this is a crash, no power cut."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self, order: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to stop; RuntimeError with its words if it does not exit with 0."""
        assert self._process is not None, "not running"
        self._process.send_signal(order)
        try:
            code = self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"{order.name} did not stop it:\n{self.stderr[-4000:]}") from None
        self._process = None
        if code != 0:
            raise RuntimeError(f"the broker exited with {code}:\n{self.stderr[-4000:]}")

    def partition_dir(self, topic: str, partition: int = 0) -> Path:
        return self.data_dir / f"{topic}-{partition}"


def free_port() -> int:
    """A port nobody listens on right now."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
