"""Topics that nobody has used: created for one run, checked, and removed with their data."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from uuid import uuid4

from benchmarks.measuring.side import RunningBroker
from kbroker.client.cluster import Cluster
from kbroker.client.errors import ClientError
from kbroker.client.topics import LATEST, create_topic, delete_topic, list_offsets
from kbroker.model import Uuid

# A thousand partitions take Kafka some seconds.
_TIMEOUT_S = 120.0


class Topic:
    """A topic on one broker."""

    def __init__(self, broker: RunningBroker, name: str, partitions: int) -> None:
        self.broker = broker
        self.name = name
        self.partitions = partitions

    def topic_id(self) -> Uuid:
        """Its id, which new versions of requests use in place of its name."""
        with Cluster(self.broker.bootstrap) as cluster:
            return cluster.topic(self.name).topic_id

    def record_count(self) -> int:
        """How many records its partitions hold, if none was deleted."""
        with Cluster(self.broker.bootstrap) as cluster:
            ends = list_offsets(cluster, self.name, dict.fromkeys(range(self.partitions), LATEST))
        return sum(ends.values())

    def disk_bytes(self) -> int:
        """What it takes on the disk."""
        return self.broker.disk_bytes(self.name)


def wait_for_partitions(cluster: Cluster, name: str, partitions: int) -> None:
    """Until all partitions take records; ClientError if they do not.

    Kafka names leaders before they take records. One that tells its end takes them.
    """
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            list_offsets(cluster, name, dict.fromkeys(range(partitions), LATEST))
            return
        except ClientError:
            if time.monotonic() > deadline:
                raise


@contextmanager
def new_topic(
    broker: RunningBroker, partitions: int = 1, configs: Mapping[str, str] | None = None
) -> Iterator[Topic]:
    """A topic that is gone afterwards, with what was written to it."""
    name = f"bench-{uuid4().hex[:8]}"
    settings = dict(configs or {})
    with Cluster(broker.bootstrap, timeout_s=_TIMEOUT_S) as cluster:
        create_topic(cluster, name, partitions=partitions, replication_factor=1, configs=settings)
        wait_for_partitions(cluster, name, partitions)
    try:
        yield Topic(broker, name, partitions)
    finally:
        # A broker that died is told of by the run itself.
        if broker.is_alive():
            with suppress(ClientError), Cluster(broker.bootstrap, timeout_s=30.0) as cluster:
                delete_topic(cluster, name)
                _settle(broker, name)


def _settle(broker: RunningBroker, topic: str) -> None:
    """Wait until a topic is gone from the disk, and until nothing else waits to be written.

    Otherwise the next run, most likely that of another broker, would share the machine with what
    this one left behind.
    """
    deadline = time.monotonic() + _TIMEOUT_S
    while any(broker.process.log_dir.glob(f"{topic}-*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.sync()
