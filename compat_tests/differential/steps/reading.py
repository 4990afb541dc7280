"""The plain Fetch that several groups of steps end with."""

from compat_tests.differential.run import Run
from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic

# The newest version that names topics; later ones give their ids.
BY_NAME = 12
MEGABYTE = 1024 * 1024


def fetch_from(
    run: Run, name: str, topic: str, offset: int, *, index: int = 0, version: int = BY_NAME
) -> None:
    """Note what one partition holds from ``offset`` on."""
    run.ask(name, fetch_request([topic_to_fetch(topic, offset, index=index)]), version)


def fetch_request(topics: list[FetchTopic]) -> FetchRequest:
    """Fetch without a session and without waiting."""
    return FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=10 * MEGABYTE, topics=topics)


def topic_to_fetch(
    topic: str,
    offset: int,
    *,
    index: int = 0,
    topic_id: bytes = ZERO_UUID,
    max_bytes: int = MEGABYTE,
) -> FetchTopic:
    """One partition from ``offset`` on."""
    wanted = FetchPartition(partition=index, fetch_offset=offset, partition_max_bytes=max_bytes)
    return FetchTopic(topic=topic, topic_id=Uuid(topic_id), partitions=[wanted])
