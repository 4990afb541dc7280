"""A Java program that runs until it is told to stop: Streams, Connect, MirrorMaker."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.apache_kafka import class_path

# A JVM with many plugins, on two busy cores.
_PATIENCE_S = 90.0
_STOP_TIMEOUT_S = 40.0


class JavaProcess:
    """A running program; what it says is in ``output``."""

    def __init__(self, main_class: str | Path, arguments: Sequence[str], folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._output_file = folder / "output.txt"
        words = ["java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        with self._output_file.open("ab") as output:
            self._process = subprocess.Popen(
                [*words, "-cp", class_path(), str(main_class), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
            )

    @property
    def output(self) -> str:
        return self._output_file.read_text(errors="replace")

    def until(self, condition: Callable[[], bool], wish: str) -> None:
        """Wait for it; AssertionError with the program's words if it ends or takes too long."""
        deadline = time.monotonic() + _PATIENCE_S
        while not _holds(condition):
            words = self.output[-3000:]
            assert self._process.poll() is None, f"the program ended before {wish}:\n{words}"
            assert time.monotonic() < deadline, f"no {wish}:\n{words}"
            time.sleep(0.2)

    def stop(self) -> None:
        """SIGTERM, and wait; one that does not end is killed."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


def _holds(condition: Callable[[], bool]) -> bool:
    try:
        return condition()
    except Exception:
        return False  # not yet: a server that does not listen, a topic that is not there


@contextmanager
def running(
    main_class: str | Path, arguments: Sequence[str], folder: Path
) -> Iterator[JavaProcess]:
    """A program that is gone at the end, whatever happened."""
    process = JavaProcess(main_class, arguments, folder)
    try:
        yield process
    finally:
        process.stop()
