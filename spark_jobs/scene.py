"""Topics for tests of the jobs: made, filled and read with our own small client."""

import time
from collections.abc import Sequence
from typing import Self

from kbroker.client.cluster import Cluster
from kbroker.client.consuming import Consumed, Consumer, Start
from kbroker.client.producing import Producer
from kbroker.client.topics import (
    EARLIEST,
    LATEST,
    configure_topic,
    create_topic,
    grow_topic,
    list_offsets,
)

# Key and value as text, headers as text, and the timestamp.
Sent = tuple[str | None, str | None] | tuple[str | None, str | None, dict[str, str], int | None]

_PATIENCE_S = 30.0
_FIRST_MS = 1_700_000_000_000


class Scene:
    """A cluster, seen by a test; close it, or use it in a ``with`` statement."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._cluster = Cluster(bootstrap, client_id="spark-jobs-test")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.close()

    def create(self, *topics: str, partitions: int = 1, **configs: str) -> None:
        """Create topics; the names of configs have underscores for dots."""
        named = {name.replace("_", "."): value for name, value in configs.items()}
        for topic in topics:
            create_topic(self._cluster, topic, partitions=partitions, configs=named)

    def create_compacted(self, topic: str) -> None:
        """A topic that the broker has compacted: gaps in its offsets, ten keys, c9 deleted."""
        self.create(
            topic,
            cleanup_policy="compact",
            min_cleanable_dirty_ratio="0.01",
            segment_ms="500",
        )
        # A minute apart, so that each round rolls a segment; the active one is never compacted.
        for round_ in range(20):
            at = _FIRST_MS + 60_000 * round_
            self.send(topic, [(f"c{n}", f'{{"round": {round_}}}', {}, at) for n in range(10)])
        self.send(topic, [("c9", None)])
        deadline = time.monotonic() + _PATIENCE_S
        while len(self.read(topic)) > 100:
            assert time.monotonic() < deadline, "the broker does not compact"
            time.sleep(0.2)

    def grow(self, topic: str, partitions: int) -> None:
        """Let a topic have more partitions."""
        grow_topic(self._cluster, topic, partitions)

    def configure(self, topic: str, **configs: str) -> None:
        """Change configs of a topic."""
        named = {name.replace("_", "."): value for name, value in configs.items()}
        configure_topic(self._cluster, topic, change=named)

    def send(self, topic: str, records: Sequence[Sent], *, partition: int | None = None) -> None:
        """Write records, in order within each partition, and wait until they are there."""
        producer = Producer(self._cluster, topic, partition=partition)
        for key, value, *rest in records:
            headers, timestamp_ms = rest or ({}, None)
            assert isinstance(headers, dict)
            assert timestamp_ms is None or isinstance(timestamp_ms, int)
            pairs = [(name, text.encode()) for name, text in headers.items()]
            producer.send(
                None if key is None else key.encode(),
                None if value is None else value.encode(),
                pairs,
                timestamp_ms=timestamp_ms,
            )
        producer.flush()

    def read(self, topic: str) -> list[Consumed]:
        """All committed records that a topic holds now."""
        consumer = Consumer(self._cluster, topic, start=Start.earliest(), read_committed=True)
        found: list[Consumed] = []
        while not consumer.at_end():
            found += consumer.poll()
        return found

    def log_start(self, topic: str, partition: int = 0) -> int:
        """The first offset that is left."""
        return list_offsets(self._cluster, topic, {partition: EARLIEST})[partition]

    def log_end(self, topic: str, partition: int = 0) -> int:
        """The offset behind the last one."""
        return list_offsets(self._cluster, topic, {partition: LATEST})[partition]


def text_headers(consumed: Consumed) -> dict[str, str]:
    """The headers of a record as text."""
    return {name: (value or b"").decode() for name, value in consumed.record.headers}
