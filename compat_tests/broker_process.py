"""A broker as users run it: the installed ``kbroker start`` in a process of its own.

It listens on a free port, says where in its ready file, and keeps its data in a directory that
the caller owns. Stopping is part of what is tested: SIGTERM must end it with exit code 0.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

KBROKER = Path(sys.executable).parent / "kbroker"

# Python and all modules take under a second; the rest is for two busy cores.
_START_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 30.0


class BrokerProcess:
    """A running broker, from the beginning of a ``with`` to its end."""

    def __init__(self, directory: Path, *, configs: Mapping[str, str] | None = None) -> None:
        self._directory = directory
        self._configs = dict(configs or {})
        self._process: subprocess.Popen[bytes] | None = None
        self.bootstrap = ""

    @property
    def data_dir(self) -> Path:
        """Where the partitions lie, one directory each."""
        return self._directory / "data"

    @property
    def stderr(self) -> str:
        """What the broker has said so far."""
        return (self._directory / "stderr.txt").read_text(errors="replace")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start and wait for the ready file; RuntimeError with the broker's words without one."""
        assert self._process is None, "already running"
        ready_file = self._directory / "ready"
        ready_file.unlink(missing_ok=True)
        command = [str(KBROKER), "start", "--data-dir", str(self.data_dir)]
        command += ["--listen", "127.0.0.1:0", "--ready-file", str(ready_file)]
        for name, value in self._configs.items():
            command += ["--set", f"{name}={value}"]
        with (self._directory / "stderr.txt").open("ab") as stderr:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr
            )
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not ready_file.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the broker does not serve:\n{self.stderr[-4000:]}")
            time.sleep(0.02)
        self.bootstrap = ready_file.read_text().strip()

    def stop(self) -> None:
        """Send SIGTERM; RuntimeError with the broker's words if it does not exit with 0."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"SIGTERM did not stop the broker:\n{self.stderr}") from None
        self._process = None
        if code != 0:
            raise RuntimeError(f"the broker exited with {code}:\n{self.stderr[-4000:]}")

    def kill(self) -> None:
        """End the process at once; the data stays."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def log_bytes(self, topic: str, partition: int = 0) -> bytes:
        """All batches of a partition as they lie on disk, segment after segment."""
        folder = self.data_dir / f"{topic}-{partition}"
        return b"".join(path.read_bytes() for path in sorted(folder.glob("*.log")))

    def log_file(self, topic: str, partition: int = 0) -> str:
        """The path of a partition's only segment."""
        [path] = (self.data_dir / f"{topic}-{partition}").glob("*.log")
        return os.fspath(path)
