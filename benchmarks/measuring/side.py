"""One of the compared brokers: one process for all workloads, or a fresh one for a single one."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.apache_kafka import free_port
from tools.certificates import RSA, Authority

from benchmarks.measuring.processes import (
    BrokerProcess,
    KafkaProcess,
    KbrokerProcess,
    KfakeProcess,
    cpu_s,
    disk_bytes,
    resident_mb,
)

KAFKA, KBROKER, KFAKE = "kafka", "kbroker", "kfake"


class RunningBroker:
    """A broker under measurement: its address, and what it costs."""

    def __init__(self, name: str, process: BrokerProcess) -> None:
        self.name = name
        self.process = process

    @property
    def bootstrap(self) -> str:
        """The address for clients."""
        return f"127.0.0.1:{self.process.port}"

    def cpu_s(self) -> float:
        """Processor time so far."""
        return cpu_s(self.process.pid)

    def resident_mb(self) -> float:
        """Memory held now."""
        return resident_mb(self.process.pid)

    def disk_bytes(self, topic: str) -> int:
        """What the partitions of a topic take on the disk."""
        return disk_bytes(self.process.log_dir, topic)

    def is_alive(self) -> bool:
        """Whether the process still runs; one that has ended is a zombie until we ask for it."""
        try:
            status = Path(f"/proc/{self.process.pid}/stat").read_text()
        except FileNotFoundError:
            return False
        return status.rpartition(")")[2].split()[0] != "Z"


class EncryptedBroker(RunningBroker):
    """A broker with a second listener, which speaks TLS."""

    def __init__(
        self, name: str, process: BrokerProcess, port: int, folder: tempfile.TemporaryDirectory[str]
    ) -> None:
        super().__init__(name, process)
        self.folder = folder
        self.tls_bootstrap = f"127.0.0.1:{port}"
        # What Kafka's clients need to use that listener.
        self.client_options = (
            "security.protocol=SSL",
            "ssl.truststore.type=PEM",
            f"ssl.truststore.location={folder.name}/authority.pem",
        )


class Side:
    """A kind of broker. `shared` is started on first use and again if it died."""

    def __init__(
        self, name: str, make: Callable[[Mapping[str, str] | None, Sequence[str]], BrokerProcess]
    ) -> None:
        self.name = name
        self._make = make
        self._shared: RunningBroker | None = None
        self._encrypted: EncryptedBroker | None = None

    def shared(self) -> RunningBroker:
        """The broker that all workloads use in turn."""
        if self._shared is not None and not self._shared.is_alive():
            self.close()
        if self._shared is None:
            process = self._started(None, ())
            self._shared = RunningBroker(self.name, process)
        return self._shared

    def encrypted(self) -> EncryptedBroker:
        """Another one, shared by all workloads that encrypt; its key is RSA, as most keys are."""
        if self._encrypted is None:
            folder = tempfile.TemporaryDirectory(prefix="certificates-")
            key = Authority(Path(folder.name)).issue("broker", key=RSA)
            configs = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(key)}
            port = free_port()
            process = self._started(configs, [f"SSL://127.0.0.1:{port}"])
            self._encrypted = EncryptedBroker(self.name, process, port, folder)
        return self._encrypted

    @contextmanager
    def fresh(self, properties: Mapping[str, str] | None = None) -> Iterator[BrokerProcess]:
        """A broker of one's own, not started yet; it is gone with its data afterwards."""
        process = self._make(properties, ())
        try:
            yield process
        finally:
            process.remove()

    @contextmanager
    def running(self, properties: Mapping[str, str] | None = None) -> Iterator[RunningBroker]:
        """As `fresh`, and started."""
        with self.fresh(properties) as process:
            process.start()
            yield RunningBroker(self.name, process)

    def close(self) -> None:
        """End the shared brokers, if there are any."""
        if self._shared is not None:
            self._shared.process.remove()
            self._shared = None
        if self._encrypted is not None:
            self._encrypted.process.remove()
            self._encrypted.folder.cleanup()
            self._encrypted = None

    def _started(
        self, properties: Mapping[str, str] | None, more_listeners: Sequence[str]
    ) -> BrokerProcess:
        process = self._make(properties, more_listeners)
        try:
            process.start()
        except BaseException:
            process.remove()
            raise
        return process


def kafka_side() -> Side:
    """Apache Kafka."""
    return Side(KAFKA, KafkaProcess)


def kbroker_side() -> Side:
    """kbroker."""
    return Side(KBROKER, KbrokerProcess)


def kfake_side() -> Side:
    """kfake."""
    return Side(KFAKE, KfakeProcess)
