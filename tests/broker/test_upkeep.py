"""What is done now and then, seen from outside."""

import time
from pathlib import Path

from kbroker.testing import Broker
from tests.broker.conversation import Conversation, batch


def checkpointed(directory: Path, topic: str) -> int:
    """The recovery point of partition 0 that a start after a crash would believe."""
    lines = (directory / "recovery-point-offset-checkpoint").read_text().splitlines()
    points = {line.split()[0]: int(line.split()[2]) for line in lines[2:]}
    return points.get(topic, 0)


def wait_for_recovery_point(directory: Path, topic: str, offset: int) -> None:
    deadline = time.monotonic() + 30
    path = directory / "recovery-point-offset-checkpoint"
    while not path.exists() or checkpointed(directory, topic) < offset:
        assert time.monotonic() < deadline, "nothing was flushed"
        time.sleep(0.05)


CHECKPOINT_OFTEN = {"log.flush.offset.checkpoint.interval.ms": "100"}


def test_what_is_older_than_flush_ms_is_flushed(tmp_path: Path):
    with Broker(data_dir=str(tmp_path), configs=CHECKPOINT_OFTEN) as broker:
        talk = Conversation.with_broker(broker)
        talk.create_topic("timed", flush_ms="1")
        talk.produce("timed", batch(b"a"))

        wait_for_recovery_point(tmp_path, "timed", 1)
        talk.connection.close()


def test_a_segment_that_is_full_is_flushed_soon(tmp_path: Path):
    with Broker(data_dir=str(tmp_path), configs=CHECKPOINT_OFTEN) as broker:
        talk = Conversation.with_broker(broker)
        talk.create_topic("rolled", segment_bytes=str(1 << 20))
        for _ in range(3):
            talk.produce("rolled", batch(b"x" * 600_000))

        wait_for_recovery_point(tmp_path, "rolled", 2)
        talk.connection.close()
