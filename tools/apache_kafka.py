"""Apache Kafka, as a neighbour to compare with: one real broker in a directory that goes away.

    with ApacheKafka() as kafka:
        client = Consumer({"bootstrap.servers": kafka.bootstrap, ...})

The broker runs in combined KRaft mode from the jars that ``make java`` puts into ``.cache``. Tests
compare answers and files with it, benchmarks compare speed, and its command-line tools and small
Java programs of ours run on the same class path with `run_java`.
"""

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

KAFKA_VERSION = "4.3.1"
JARS = Path(__file__).parent.parent / ".cache" / "jars" / f"kafka-{KAFKA_VERSION}"

# A base64 uuid like those of `kafka-storage random-uuid`; one broker alone needs no other.
_CLUSTER_ID = "a2Jyb2tlci1hcGFjaGUtMQ"
# Beside a listener that encrypts, Kafka wants to be told the protocol of the controller's too.
_PROTOCOLS = {"listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL"}
# A JVM on two busy cores takes 4 to 20 seconds.
_START_TIMEOUT_S = 90.0
_STOP_TIMEOUT_S = 30.0


def class_path(*, first: Sequence[Path] = ()) -> str:
    """Kafka's jars as a class path, behind those of ``first``; FileNotFoundError without them."""
    if not any(JARS.glob("kafka_*.jar")):
        raise FileNotFoundError(f"Apache Kafka's jars are not in {JARS}: run `make java`")
    return ":".join([*map(str, first), f"{JARS}/*"])


def run_java(
    main_class: str | Path,
    *arguments: str,
    stdin: bytes | None = None,
    heap: str = "256m",
    quick_start: bool = True,
    timeout_s: float = 110.0,
    first: Sequence[Path] = (),
) -> bytes:
    """What a Java program on Kafka's class path prints; RuntimeError with its words if it fails.

    ``main_class`` is a class of Kafka's jars, or the path of a single Java source file. The jars
    of ``first`` win over Kafka's.
    """
    command = ["java", f"-Xmx{heap}"]
    if quick_start:
        # Tools live for a second; the best code for a long run only makes them slower.
        command += ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += ["-cp", class_path(first=first), str(main_class), *arguments]
    result = subprocess.run(
        command, input=stdin or b"", capture_output=True, timeout=timeout_s, check=False
    )
    if result.returncode != 0:
        words = (result.stdout[-2000:] + result.stderr[-4000:]).decode(errors="replace")
        raise RuntimeError(f"{main_class} ended with {result.returncode}:\n{words}")
    return result.stdout


def free_port() -> int:
    """A port nobody listens on right now."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class ApacheKafka:
    """One broker and controller in one process, with its data in a temporary directory.

    Starts when entered and is gone, with its data, when left. `kill` and `start` in between make
    a crash and a recovery on the same data.
    """

    def __init__(
        self,
        *,
        port: int | None = None,
        controller_port: int | None = None,
        properties: Mapping[str, str] | None = None,
        heap: str = "1g",
        jvm_options: Sequence[str] = (),
        more_listeners: Sequence[str] = (),
    ) -> None:
        self.port = port or free_port()
        self._controller_port = controller_port or free_port()
        self._extra_properties = dict(properties or {})
        self._heap = heap
        self._jvm_options = tuple(jvm_options)
        self._more_listeners = tuple(more_listeners)
        self._directory: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        """The address for clients."""
        return f"127.0.0.1:{self.port}"

    @property
    def directory(self) -> Path:
        """Where its configuration, its output and its data lie."""
        assert self._directory is not None, "not started"
        return self._directory

    @property
    def log_dir(self) -> Path:
        """Where the partitions lie, one directory each."""
        return self.directory / "data"

    @property
    def pid(self) -> int:
        """The id of the running process."""
        assert self._process is not None, "not running"
        return self._process.pid

    @property
    def output(self) -> str:
        """What the broker has printed so far."""
        return (self.directory / "output.txt").read_text(errors="replace")

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._clean_up()

    def start(self) -> None:
        """Start the broker and wait until it serves."""
        self.spawn()
        self._wait_until_it_serves()

    def format(self) -> None:
        """Make the data directory, if there is none yet."""
        if self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix="apache-kafka-"))
            self._format()

    def spawn(self) -> None:
        """Start the broker, on a new data directory if there is none, and do not wait."""
        assert self._process is None, "already running"
        self.format()
        command = ["java", f"-Xmx{self._heap}", f"-Xms{self._heap}", "-XX:+UseG1GC"]
        command += self._jvm_options
        command += ["-cp", class_path(), "kafka.Kafka", str(self._properties_file)]
        with (self.directory / "output.txt").open("ab") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
            )

    def kill(self) -> None:
        """End the process at once, as a power cut would; the data stays."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Shut down in good order; the data stays."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def run_java(
        self, main_class: str | Path, *arguments: str, stdin: bytes | None = None
    ) -> bytes:
        """As the function of this name; for tools, give ``--bootstrap-server`` yourself."""
        return run_java(main_class, *arguments, stdin=stdin)

    @property
    def _properties_file(self) -> Path:
        return self.directory / "server.properties"

    def _properties(self) -> dict[str, str]:
        advertised = ",".join([f"PLAINTEXT://127.0.0.1:{self.port}", *self._more_listeners])
        return {
            "process.roles": "broker,controller",
            "node.id": "1",
            "listeners": f"{advertised},CONTROLLER://127.0.0.1:{self._controller_port}",
            "advertised.listeners": advertised,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"1@127.0.0.1:{self._controller_port}",
            "log.dirs": str(self.log_dir),
            # One broker cannot hold the usual three copies of the topics for itself.
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "4",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            "share.coordinator.state.topic.num.partitions": "4",
            "group.initial.rebalance.delay.ms": "0",
            **(_PROTOCOLS if self._more_listeners else {}),
            **self._extra_properties,
        }

    def _format(self) -> None:
        lines = [f"{name}={value}\n" for name, value in self._properties().items()]
        self._properties_file.write_text("".join(lines))
        run_java(
            "kafka.tools.StorageTool",
            *("format", "--cluster-id", _CLUSTER_ID, "--config", str(self._properties_file)),
        )

    def _wait_until_it_serves(self) -> None:
        """Until the port answers; RuntimeError with the broker's words if it does not."""
        assert self._process is not None
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                self._process = None
                raise RuntimeError(f"Apache Kafka ended at once:\n{self.output[-4000:]}")
            if self._answers_api_versions():
                return
            time.sleep(0.1)
        self.kill()
        raise RuntimeError(f"Apache Kafka does not serve:\n{self.output[-4000:]}")

    def _answers_api_versions(self) -> bool:
        """Whether an ApiVersions request (key 18, version 0) gets an answer.

        The port is open a while before requests are handled, so listening alone says little.
        """
        request = b"\x00\x12\x00\x00" + b"\x00\x00\x00\x01" + b"\xff\xff"
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5.0) as connection:
                connection.sendall(len(request).to_bytes(4, "big") + request)
                return len(connection.recv(4)) > 0
        except OSError:
            return False

    def _clean_up(self) -> None:
        self.kill()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None
