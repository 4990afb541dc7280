"""A full disk: appends are refused, everything else goes on, and no restart is needed (L10).

The data directory, metadata and all, lies on a small tmpfs, which is filled to the last page and
gets room again when a file beside the data is deleted.
"""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message, Producer

from kbroker.client.connection import Connection
from kbroker.model import Uuid
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kbroker.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from kbroker.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from kbroker.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from kbroker.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.broker.conversation import Conversation, batch, data_of
from tests.scenarios.broker_process import BrokerProcess

pytestmark = pytest.mark.slow

SIZE_MB = 24
BALLAST_BYTES = 4 << 20
# Larger than the rest of any page that the log has begun.
VALUE = b"v" * 50_000
LATEST = -1


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB with some ballast on it."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "tmpfs", str(place)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.fail(f"a small disk is needed, and mounting a tmpfs needs root: {mounted.stderr}")
    (place / "ballast").write_bytes(bytes(BALLAST_BYTES))
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def broker(disk: Path, tmp_path: Path) -> Iterator[BrokerProcess]:
    with BrokerProcess(tmp_path, data_dir=disk / "data") as running:
        yield running


@contextmanager
def talk_to(broker: BrokerProcess) -> Iterator[Conversation]:
    with Connection(broker.host, broker.port, client_id="tests") as connection:
        yield Conversation(connection)


def fill(disk: Path) -> None:
    """Take every page that is left."""
    with (disk / "filling").open("wb", buffering=0) as filling:
        while os.statvfs(disk).f_bavail:
            filling.write(bytes(4096))


def make_room(disk: Path) -> None:
    (disk / "ballast").unlink(missing_ok=True)
    (disk / "filling").unlink(missing_ok=True)


def produce_until_refused(talk: Conversation, topic: str) -> int:
    """Fill the disk with records; gives how many were taken."""
    for number in range(SIZE_MB * 1_000_000 // len(VALUE) + 1):
        answer = talk.produce(topic, batch(VALUE))
        if answer.error_code != ErrorCode.NONE:
            assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
            # The first refusal comes after a write of some of the bytes, later ones before any.
            assert answer.error_message is not None
            assert re.search("bytes written|No space left", answer.error_message)
            return number
        assert answer.base_offset == number
    raise AssertionError("the disk does not fill up")


def high_watermark(talk: Conversation, topic: str) -> int:
    data = data_of(talk.fetch({(topic, 0): 0}))[topic, 0]
    assert data.error_code == ErrorCode.NONE
    assert data.records
    return data.high_watermark


def create(talk: Conversation, name: str) -> CreatableTopicResult:
    topic = CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
    return talk.connection.ask(request, CreateTopicsResponse, version=7).topics[0]


def latest_offset(talk: Conversation, topic: str) -> int:
    asked = ListOffsetsPartition(partition_index=0, timestamp=LATEST)
    topics = [ListOffsetsTopic(name=topic, partitions=[asked])]
    request = ListOffsetsRequest(replica_id=-1, topics=topics)
    answer = talk.connection.ask(request, ListOffsetsResponse).topics[0].partitions[0]
    assert answer.error_code == ErrorCode.NONE
    return answer.offset


def topic_names(talk: Conversation) -> dict[str, Uuid]:
    answer = talk.connection.ask(MetadataRequest(topics=None), MetadataResponse)
    return {topic.name or "": topic.topic_id for topic in answer.topics}


def delete_records(talk: Conversation, topic: str, before: int) -> tuple[int, int]:
    asked = DeleteRecordsPartition(partition_index=0, offset=before)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=[asked])], timeout_ms=10_000
    )
    answer = talk.connection.ask(request, DeleteRecordsResponse).topics[0].partitions[0]
    return answer.error_code, answer.low_watermark


def delete_topic(talk: Conversation, name: str) -> int:
    request = DeleteTopicsRequest(topic_names=[name], timeout_ms=10_000)
    return talk.connection.ask(request, DeleteTopicsResponse, version=5).responses[0].error_code


def test_appends_are_refused_while_the_disk_is_full_and_resume_without_a_restart(
    broker: BrokerProcess, disk: Path
):
    with talk_to(broker) as talk:
        talk.create_topic("full")
        taken = produce_until_refused(talk, "full")
        fill(disk)
        for _ in range(3):
            assert talk.produce("full", batch(VALUE)).error_code == ErrorCode.KAFKA_STORAGE_ERROR

        # Reading and asking go on.
        assert high_watermark(talk, "full") == taken
        assert latest_offset(talk, "full") == taken
        assert "full" in topic_names(talk)

        make_room(disk)
        assert talk.produce("full", batch(VALUE)).base_offset == taken
        assert high_watermark(talk, "full") == taken + 1
    broker.kill()
    broker.start()
    with talk_to(broker) as talk:
        assert high_watermark(talk, "full") == taken + 1
        assert talk.produce("full", batch(VALUE)).base_offset == taken + 1
    assert "Traceback" not in broker.stderr


def test_records_are_deleted_on_a_full_disk(broker: BrokerProcess, disk: Path):
    with talk_to(broker) as talk:
        talk.create_topic("full")
        taken = produce_until_refused(talk, "full")
        fill(disk)
        assert delete_records(talk, "full", taken - 1) == (ErrorCode.NONE, taken - 1)
        # Where the log began is not lost with the process, even if no checkpoint could be written.
        assert latest_offset(talk, "full") == taken
        make_room(disk)
        assert talk.produce("full", batch(VALUE)).base_offset == taken
    broker.stop()
    assert "Traceback" not in broker.stderr


def test_a_topic_can_be_deleted_to_make_room(broker: BrokerProcess, disk: Path):
    """The way out that an administrator has."""
    with talk_to(broker) as talk:
        talk.create_topic("full", file_delete_delay_ms="0")
        talk.create_topic("other")
        produce_until_refused(talk, "full")
        assert talk.produce("other", batch(VALUE)).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert delete_topic(talk, "full") == ErrorCode.NONE
        deadline = time.monotonic() + 20
        while talk.produce("other", batch(VALUE)).error_code != ErrorCode.NONE:
            assert time.monotonic() < deadline, "the files of the topic are not removed"
            time.sleep(0.1)
        assert topic_names(talk).keys() == {"other"}
    assert "Traceback" not in broker.stderr


def test_topics_cannot_be_made_on_a_full_disk_and_can_be_made_afterwards(
    broker: BrokerProcess, disk: Path
):
    """The metadata lies on the same disk. What was promised exists, what was refused does not."""
    with talk_to(broker) as talk:
        talk.create_topic("full")
        taken = produce_until_refused(talk, "full")
        fill(disk)
        made: dict[str, Uuid] = {}
        # A few may still fit into the last page of the metadata.
        for number in range(100):
            result = create(talk, f"late-{number}")
            if result.error_code != ErrorCode.NONE:
                break
            made[result.name] = result.topic_id
        assert result.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert result.error_message is not None
        assert "No space left" in result.error_message
        refused = result.name
        assert topic_names(talk).keys() == {"full", *made}
        assert high_watermark(talk, "full") == taken

        make_room(disk)
        again = create(talk, refused)
        assert again.error_code == ErrorCode.NONE
        made[refused] = again.topic_id
        produce_to_each(talk, made)
    broker.kill()
    broker.start()
    with talk_to(broker) as talk:
        found = topic_names(talk)
        assert {name: found[name] for name in made} == made
        assert found.keys() == {"full", *made}
        assert all(high_watermark(talk, name) == 1 for name in made)
    broker.stop()
    assert "Traceback" not in broker.stderr


def produce_to_each(talk: Conversation, topics: dict[str, Uuid]) -> None:
    """Topics that were made without room for their files get them when there is room again."""
    deadline = time.monotonic() + 20
    for name in topics:
        while talk.produce(name, batch(b"v")).error_code != ErrorCode.NONE:
            assert time.monotonic() < deadline, f"{name} is never served"
            time.sleep(0.1)


def test_a_producer_waits_for_room(broker: BrokerProcess, disk: Path):
    """The error is one that clients try again: a stock producer never hears of it."""
    reports: list[tuple[KafkaError | None, int | None]] = []

    def on_delivery(error: KafkaError | None, message: Message) -> None:
        reports.append((error, message.offset()))

    with talk_to(broker) as talk:
        talk.create_topic("full")
        taken = produce_until_refused(talk, "full")
        fill(disk)
        settings = {"bootstrap.servers": broker.bootstrap, "enable.idempotence": True}
        producer = Producer(settings)
        for _ in range(5):
            producer.produce("full", VALUE, on_delivery=on_delivery)
        assert producer.flush(2) == 5
        make_room(disk)
        assert producer.flush(20) == 0
        assert reports == [(None, taken + number) for number in range(5)]
        assert high_watermark(talk, "full") == taken + 5


def test_a_broker_can_be_stopped_on_a_full_disk(broker: BrokerProcess, disk: Path):
    """It cannot write what a clean start wants, so the next start checks everything instead."""
    with talk_to(broker) as talk:
        talk.create_topic("full")
        taken = produce_until_refused(talk, "full")
        fill(disk)
    broker.stop()
    assert "Traceback" not in broker.stderr
    make_room(disk)
    broker.start()
    with talk_to(broker) as talk:
        assert high_watermark(talk, "full") == taken
        assert talk.produce("full", batch(VALUE)).base_offset == taken


def test_a_broker_starts_on_a_disk_that_is_full(broker: BrokerProcess, disk: Path):
    """After a crash there are files to write; what cannot be opened is tried again."""
    with talk_to(broker) as talk:
        talk.create_topic("full")
        taken = produce_until_refused(talk, "full")
    fill(disk)
    broker.kill()
    broker.start()
    make_room(disk)
    with talk_to(broker) as talk:
        produce_to_each(talk, topic_names(talk))
        assert high_watermark(talk, "full") == taken + 1
    assert "Traceback" not in broker.stderr
