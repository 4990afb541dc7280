"""The two brokers as processes: an address, and what the kernel says of their CPU and memory."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.apache_kafka import ApacheKafka

_START_TIMEOUT_S = 30.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class RunningBroker:
    """A broker under measurement."""

    name: str
    bootstrap: str
    pid: int
    start_s: float

    def cpu_s(self) -> float:
        """Processor time of all its threads so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S

    def resident_mb(self) -> float:
        """Memory it holds now."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        raise RuntimeError(f"no VmRSS of process {self.pid}")


@contextmanager
def apache_kafka(properties: Mapping[str, str] | None = None) -> Iterator[RunningBroker]:
    """Apache Kafka with the heap its own scripts give it."""
    began_at = time.monotonic()
    with ApacheKafka(heap="1g", properties=properties) as kafka:
        start_s = time.monotonic() - began_at
        yield RunningBroker("Apache Kafka", kafka.bootstrap, kafka.pid, start_s)


@contextmanager
def kbroker() -> Iterator[RunningBroker]:
    """kbroker with its defaults."""
    with tempfile.TemporaryDirectory(prefix="kbroker-bench-") as directory:
        ready = Path(directory) / "ready"
        command = [str(Path(sys.executable).parent / "kbroker"), "start"]
        command += ["--data-dir", f"{directory}/data", "--listen", "127.0.0.1:0"]
        command += ["--ready-file", str(ready), "--log-level", "warning"]
        began_at = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                while not ready.exists():
                    if process.poll() is not None or time.monotonic() > began_at + _START_TIMEOUT_S:
                        raise RuntimeError("kbroker does not start")
                    time.sleep(0.002)
                start_s = time.monotonic() - began_at
                yield RunningBroker("kbroker", ready.read_text().strip(), process.pid, start_s)
            finally:
                process.terminate()
