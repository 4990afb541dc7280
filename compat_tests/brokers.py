"""The two brokers that scenarios run against, started with the same configs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.apache_kafka import KAFKA_VERSION, ApacheKafka

from compat_tests.broker_process import BrokerProcess

KBROKER = "kbroker"
APACHE_KAFKA = f"Apache Kafka {KAFKA_VERSION}"

CONFIGS = {
    # Clients may send what 10 MB records need; topics lower or raise it for themselves.
    "message.max.bytes": str(16 * 1024 * 1024),
    # Groups settle in seconds: nobody waits for members to come, heartbeats are frequent, and
    # consumer groups may set a session timeout as short as that of classic ones.
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.session.timeout.ms": "6000",
    # Transactions that take too long are looked for more often than every ten seconds.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}


@dataclass(frozen=True, slots=True)
class RunningBroker:
    """Where clients find it, and where its partitions lie."""

    name: str
    bootstrap: str
    data_dir: Path


@contextmanager
def running(name: str, folder: Path) -> Iterator[RunningBroker]:
    """One of the two, from its start to its end; the folder is the caller's."""
    if name == KBROKER:
        with BrokerProcess(folder, configs=CONFIGS) as process:
            yield RunningBroker(name, process.bootstrap, process.data_dir)
    else:
        with ApacheKafka(properties=CONFIGS) as kafka:
            yield RunningBroker(name, kafka.bootstrap, kafka.log_dir)
