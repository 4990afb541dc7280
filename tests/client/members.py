"""Groups with real members: confluent-kafka's consumers, in the protocol of the test's choice."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from confluent_kafka import Consumer, TopicPartition

# Rebalances of two busy cores; a member that never gets its partitions fails the test.
_JOIN_TIMEOUT_S = 60.0


def consumer(bootstrap: str, group_id: str, **configs: str) -> Consumer:
    """A consumer that commits only what it is told to."""
    named = {name.replace("_", "."): value for name, value in configs.items()}
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group_id,
            "enable.auto.commit": "false",
            "auto.offset.reset": "earliest",
            "group.protocol": "classic",
            **named,
        }
    )


@contextmanager
def members(
    bootstrap: str, group_id: str, topic: str, *client_ids: str, partitions: int, **configs: str
) -> Iterator[list[Consumer]]:
    """A member for each client id, once they share all partitions of ``topic``; then they leave."""
    joined = [consumer(bootstrap, group_id, client_id=each, **configs) for each in client_ids]
    try:
        for each in joined:
            each.subscribe([topic])
        deadline = time.monotonic() + _JOIN_TIMEOUT_S
        while not _share(joined, partitions):
            assert time.monotonic() < deadline, "the members did not get their partitions"
            for each in joined:
                each.poll(0.1)
        yield joined
    finally:
        for each in joined:
            each.close()


def commit(bootstrap: str, group_id: str, topic: str, offsets: Mapping[int, int]) -> None:
    """Commit for a group without members, which comes into being if it was not there."""
    outside = consumer(bootstrap, group_id)
    outside.commit(
        offsets=[TopicPartition(topic, number, offset) for number, offset in offsets.items()],
        asynchronous=False,
    )
    outside.close()


def _share(joined: list[Consumer], partitions: int) -> bool:
    shares = [len(each.assignment()) for each in joined]
    return all(shares) and sum(shares) == partitions
