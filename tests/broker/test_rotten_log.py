"""A log that rots under a running broker: an error where the damage is, and nowhere else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbroker.records import Record, build_batch
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from kbroker.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from tests.broker.conversation import TIMESTAMP_MS, Conversation, batch, data_of

ROTTEN, SOUND = ("rotten", 0), ("sound", 0)
BATCHES = 20
# The batches at these offsets lose their headers.
DAMAGED = range(8, 11)


@pytest.fixture
def running() -> Iterator[Broker]:
    with Broker() as broker:
        talk = Conversation.with_broker(broker)
        for topic in ("rotten", "sound"):
            talk.create_topic(topic)
            for number in range(BATCHES):
                record = Record(0, TIMESTAMP_MS + number, b"key", b"v" * 100)
                talk.produce(topic, build_batch([record]))
        talk.connection.close()
        path = Path(broker.data_dir) / "rotten-0" / "00000000000000000000.log"
        size_bytes, rest = divmod(path.stat().st_size, BATCHES)
        assert rest == 0
        with path.open("r+b") as file:
            file.seek(size_bytes * DAMAGED.start)
            file.write(bytes(size_bytes * len(DAMAGED)))
        yield broker


def offset_by_time(talk: Conversation, topic: str, timestamp_ms: int) -> tuple[int, int]:
    asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp_ms)
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[asked])]
    )
    answer = talk.connection.ask(request, ListOffsetsResponse, version=5)
    found = answer.topics[0].partitions[0]
    return found.error_code, found.offset


def test_only_the_damaged_batches_are_refused(talk: Conversation):
    for offset in range(BATCHES):
        answer = data_of(talk.fetch({ROTTEN: offset, SOUND: offset}))
        expected = ErrorCode.CORRUPT_MESSAGE if offset in DAMAGED else ErrorCode.NONE
        assert answer[ROTTEN].error_code == expected, offset
        assert answer[SOUND].error_code == ErrorCode.NONE
        assert answer[SOUND].records
        assert answer[ROTTEN].high_watermark == BATCHES


def test_a_session_goes_on_behind_the_damage(talk: Conversation):
    opened = talk.fetch({ROTTEN: DAMAGED.start}, session_epoch=0)
    assert data_of(opened)[ROTTEN].error_code == ErrorCode.CORRUPT_MESSAGE

    answer = talk.fetch({ROTTEN: DAMAGED.stop}, session_id=opened.session_id, session_epoch=1)

    assert data_of(answer)[ROTTEN].error_code == ErrorCode.NONE
    assert data_of(answer)[ROTTEN].records


def test_offsets_by_time_say_that_they_cannot_be_found(talk: Conversation):
    for number in (0, DAMAGED.start - 1):
        assert offset_by_time(talk, "rotten", TIMESTAMP_MS + number) == (ErrorCode.NONE, number)
    for number in DAMAGED:
        error, _ = offset_by_time(talk, "rotten", TIMESTAMP_MS + number)
        assert error == ErrorCode.CORRUPT_MESSAGE
        assert offset_by_time(talk, "sound", TIMESTAMP_MS + number) == (ErrorCode.NONE, number)


def test_a_rotten_log_is_written_to_and_its_front_deleted(talk: Conversation):
    appended = talk.produce("rotten", batch(b"new"))
    assert (appended.error_code, appended.base_offset) == (ErrorCode.NONE, BATCHES)
    topic = DeleteRecordsTopic(
        name="rotten",
        partitions=[DeleteRecordsPartition(partition_index=0, offset=DAMAGED.start + 1)],
    )
    request = DeleteRecordsRequest(topics=[topic], timeout_ms=10_000)
    answer = talk.connection.ask(request, DeleteRecordsResponse, version=2)
    deleted = answer.topics[0].partitions[0]
    assert (deleted.error_code, deleted.low_watermark) == (ErrorCode.NONE, DAMAGED.start + 1)
