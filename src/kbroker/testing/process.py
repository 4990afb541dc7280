"""A broker as users run it: the installed ``kbroker start`` in a process of its own.

    with BrokerProcess() as broker:
        ...
        broker.kill()      # a crash: the page cache survives, so it is no power cut
        broker.start()     # the same port and the same data

It is for tests of what happens to clients when a broker dies and comes back. The port is chosen
once and kept, so that clients find the broker again. What it says is kept in files, over all its
lives, and is part of the error when it does not start or does not stop well.
"""

import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

KBROKER = Path(sys.executable).parent / "kbroker"

# Python and all modules take under a second; the rest is for busy machines.
START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0

# Below the ports that systems give to outgoing connections (32768 on Linux, 49152 elsewhere): one
# of those could take the place of a broker that is down, and a client that tries again and again
# to reach it can even end up connected to itself.
_PORTS = range(20_000, 32_000)
_LAST_WORDS = 4_000


class BrokerProcess:
    """One broker on one port and one data directory; `kill` and `start` it as often as you like.

    ``directory`` gets the ready file and the outputs, and the data too unless ``data_dir`` is
    given; without one, all is in a temporary directory that goes at the end of a ``with``.
    ``configs`` are Kafka's, ``options`` are more words for ``kbroker start``. A ``port`` is wanted
    where they have to name it; without one a free port is taken.

    A ``with`` that ends well stops the broker, which must exit with 0; one that does not kills it.
    """

    def __init__(
        self,
        directory: Path | None = None,
        *,
        data_dir: Path | None = None,
        configs: Mapping[str, str] | None = None,
        options: Sequence[str] = (),
        port: int | None = None,
    ) -> None:
        self._is_temporary = directory is None
        self._directory = directory or Path(tempfile.mkdtemp(prefix="kbroker-"))
        self.data_dir = data_dir or self._directory / "data"
        self._options = list(options)
        for name, value in (configs or {}).items():
            self._options += ["--set", f"{name}={value}"]
        self._process: subprocess.Popen[bytes] | None = None
        self.host = "127.0.0.1"
        self.port = port or free_port()

    @property
    def bootstrap(self) -> str:
        """The address for clients, ``host:port``."""
        return f"{self.host}:{self.port}"

    @property
    def pid(self) -> int:
        """The id of the process, to send it signals or to look at what it takes."""
        assert self._process is not None, "not running"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not ended by itself."""
        return self._process is not None and self._process.poll() is None

    @property
    def stderr(self) -> str:
        """What the broker has logged so far, in all its lives."""
        return (self._directory / "stderr.txt").read_text(errors="replace")

    @property
    def stdout(self) -> str:
        """What it has printed."""
        return (self._directory / "stdout.txt").read_text(errors="replace")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self.stop()
        finally:
            self.kill()
            if self._is_temporary:
                shutil.rmtree(self._directory, ignore_errors=True)

    def start(self) -> None:
        """Start and wait until it serves; RuntimeError with its words if it does not."""
        assert self._process is None, "already running"
        ready_file = self._directory / "ready"
        ready_file.unlink(missing_ok=True)
        command = [str(KBROKER), "start", "--data-dir", str(self.data_dir)]
        command += ["--listen", self.bootstrap, "--ready-file", str(ready_file), *self._options]
        with (
            (self._directory / "stdout.txt").open("ab") as stdout,
            (self._directory / "stderr.txt").open("ab") as stderr,
        ):
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while not ready_file.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the broker does not serve:\n{self.stderr[-_LAST_WORDS:]}")
            time.sleep(0.01)

    def stop(self, order: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to stop; RuntimeError with its words if it does not exit with 0.

        Nothing happens if it does not run.
        """
        if self._process is None:
            return
        self._process.send_signal(order)
        try:
            code = self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            words = self.stderr[-_LAST_WORDS:]
            raise RuntimeError(f"{order.name} did not stop the broker:\n{words}") from None
        self._process = None
        if code != 0:
            raise RuntimeError(f"the broker exited with {code}:\n{self.stderr[-_LAST_WORDS:]}")

    def kill(self) -> None:
        """End the process at once, if there is one; the data stays."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        """Stop and start again."""
        self.stop()
        self.start()

    def partition_dir(self, topic: str, partition: int = 0) -> Path:
        """Where the files of a partition lie."""
        return self.data_dir / f"{topic}-{partition}"


def free_port() -> int:
    """A port nobody listens on right now."""
    for port in random.sample(_PORTS, len(_PORTS)):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("every port is in use")
