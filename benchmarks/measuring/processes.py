"""Brokers as processes: how to start and end them, and what the kernel says of them.

Whatever is measured of a broker is read from /proc, for its process and all its children, so that
neither a slow client nor a helper process can hide what the broker costs.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tools.apache_kafka import ApacheKafka, free_port

ROOT = Path(__file__).parent.parent.parent
GO_PROGRAMS = ROOT / ".cache" / "go" / "bin"

_START_TIMEOUT_S = 120.0
_STOP_TIMEOUT_S = 60.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

# What Kafka's own start script gives the JVM (bin/kafka-run-class.sh), beside the heap.
KAFKA_HEAP = "1g"
KAFKA_JVM_OPTIONS = (
    "-server",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)
# ApacheKafka is made small for tests; these are Kafka's defaults again.
KAFKA_DEFAULTS = {
    "offsets.topic.num.partitions": "50",
    "transaction.state.log.num.partitions": "50",
    "group.initial.rebalance.delay.ms": "3000",
}

# Data of a run is deleted right behind it and not a minute later, when others would pay for it.
# The config of the broker, because Kafka seems to go by it, and not by that of the topic, when a
# whole topic is deleted.
DELETE_SOON = {"log.segment.delete.delay.ms": "100"}


class BrokerProcess(Protocol):
    """A broker whose life we hold in our hands; its data survives `stop` and `kill`."""

    @property
    def port(self) -> int:
        """Where it listens, on 127.0.0.1; the same after a restart."""

    @property
    def pid(self) -> int:
        """The id of the running process."""

    @property
    def log_dir(self) -> Path:
        """Where the partitions lie, one directory each."""

    def format(self) -> None:
        """Make the data directory, if there is none yet and the broker does not do it itself."""

    def spawn(self) -> None:
        """Start it and do not wait."""

    def start(self) -> None:
        """Start it and wait until it answers; RuntimeError with its words if it does not."""

    def stop(self) -> None:
        """End it in good order."""

    def kill(self) -> None:
        """End it at once, as a power cut would."""

    def remove(self) -> None:
        """End it and delete its data."""


class KafkaProcess(ApacheKafka):
    """Apache Kafka with the heap and the options of its own script, and its default settings."""

    def __init__(
        self, properties: Mapping[str, str] | None = None, more_listeners: Sequence[str] = ()
    ) -> None:
        super().__init__(
            heap=KAFKA_HEAP,
            jvm_options=KAFKA_JVM_OPTIONS,
            properties={**KAFKA_DEFAULTS, **DELETE_SOON, **(properties or {})},
            more_listeners=more_listeners,
        )

    def remove(self) -> None:
        """End it and delete its data."""
        self.__exit__(None, None, None)


class _PlainProcess:
    """What kbroker and kfake have in common: a command, a directory, a process."""

    def __init__(self, name: str) -> None:
        self.port = free_port()
        self._name = name
        self._directory = Path(tempfile.mkdtemp(prefix=f"{name}-bench-"))
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The id of the running process."""
        assert self._process is not None, "not running"
        return self._process.pid

    @property
    def log_dir(self) -> Path:
        """Where the partitions lie."""
        return self._directory / "data"

    def format(self) -> None:
        """Both make their directories themselves."""

    def spawn(self) -> None:
        """Start it and do not wait."""
        assert self._process is None, "already running"
        with (self._directory / "output.txt").open("ab") as output:
            self._process = subprocess.Popen(
                self._command(), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.spawn()
        assert self._process is not None
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not listens(self.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                words = (self._directory / "output.txt").read_text(errors="replace")
                self.kill()
                raise RuntimeError(f"{self._name} does not start:\n{words[-2000:]}")
            time.sleep(0.01)

    def stop(self) -> None:
        """End it in good order."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once."""
        self._end(signal.SIGKILL)

    def remove(self) -> None:
        """End it and delete its data."""
        self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _command(self) -> list[str]:
        raise NotImplementedError

    def _end(self, order: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(order)
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


class KbrokerProcess(_PlainProcess):
    """kbroker with its defaults, but for what is given."""

    def __init__(
        self, properties: Mapping[str, str] | None = None, more_listeners: Sequence[str] = ()
    ) -> None:
        super().__init__("kbroker")
        self._properties = {**DELETE_SOON, **(properties or {})}
        if more_listeners:
            listeners = [f"PLAINTEXT://127.0.0.1:{self.port}", *more_listeners]
            self._properties["listeners"] = ",".join(listeners)

    def _command(self) -> list[str]:
        command = [str(Path(sys.executable).parent / "kbroker"), "start"]
        command += ["--data-dir", str(self.log_dir), "--listen", f"127.0.0.1:{self.port}"]
        command += ["--log-level", "warning"]
        for name, value in self._properties.items():
            command += ["--set", f"{name}={value}"]
        return command


class KfakeProcess(_PlainProcess):
    """franz-go's kfake, which keeps everything in memory."""

    def __init__(
        self, properties: Mapping[str, str] | None = None, more_listeners: Sequence[str] = ()
    ) -> None:
        assert not properties, "kfake has no such settings"
        assert not more_listeners
        super().__init__("kfake")

    def _command(self) -> list[str]:
        return [str(go_program("kfake_server")), str(self.port)]


def go_program(name: str) -> Path:
    """One of the programs that `make go` builds; FileNotFoundError without it."""
    path = GO_PROGRAMS / name
    if not path.exists():
        raise FileNotFoundError(f"{name} is not in {GO_PROGRAMS}: run `make go`")
    return path


def listens(port: int) -> bool:
    """Whether somebody listens on a port; asked of the kernel, so nobody is disturbed."""
    wanted = f":{port:04X}"
    # State 0A is LISTEN; kfake listens on IPv6 and IPv4 alike.
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[1].endswith(wanted) and fields[3] == "0A":
                return True
    return False


# What the kernel says


def cpu_s(pid: int) -> float:
    """Processor time of a process and its children so far."""
    total = 0
    for each in _family(pid):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        # Its own time, and that of children that have ended.
        total += sum(int(field) for field in fields[11:15])
    return total / _TICKS_PER_S


def resident_mb(pid: int) -> float:
    """Memory that a process and its children hold now."""
    total_kb = 0
    for each in _family(pid):
        for line in Path(f"/proc/{each}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                total_kb += int(line.split()[1])
    return total_kb / 1024


def disk_bytes(directory: Path, prefix: str = "") -> int:
    """What the files below take on the disk, blocks not bytes; names of folders as given."""
    total = 0
    for folder in directory.glob(f"{prefix}*"):
        for path in (folder, *folder.rglob("*")):
            try:
                total += path.stat().st_blocks * 512
            except FileNotFoundError:
                continue  # a segment that is being deleted
    return total


def _family(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            children = (task / "children").read_text().split()
        except FileNotFoundError:
            continue  # a thread that has ended
        for child in children:
            found += _family(int(child))
    return found
