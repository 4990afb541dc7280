"""Markers: written until they are there, reported when they are committed."""

from pathlib import Path

import pytest
import trio

from kbroker.broker.markers import MarkerWriter, Written
from kbroker.broker.partition import EndOfTransaction, Partition
from kbroker.config import BrokerConfig, TopicConfig
from kbroker.log import PartitionLog
from kbroker.model import TopicPartition, Uuid
from kbroker.wire.error_codes import ErrorCode

PLACE = TopicPartition("t", 0)
END = EndOfTransaction(7, 1, committed=True, coordinator_epoch=0, transaction_version=2)


class Asked:
    """Partitions that answer what they are told to, then take what comes."""

    def __init__(self, partition: Partition, *errors: ErrorCode) -> None:
        self.partition = partition
        self.errors = list(errors)

    def append(self, place: TopicPartition, end: EndOfTransaction) -> Written | ErrorCode:
        if self.errors:
            return self.errors.pop(0)
        return Written(self.partition, self.partition.append_marker(end, now_ms=0).last_offset)


class Orderer:
    def __init__(self) -> None:
        self.waiting = True
        self.told: list[TopicPartition] = []

    def is_waiting(self) -> bool:
        return self.waiting

    def on_written(self, place: TopicPartition) -> None:
        self.told.append(place)


class Flusher:
    def request(self, partition: Partition) -> None:
        """The test flushes."""


@pytest.fixture
def partition(tmp_path: Path) -> Partition:
    log = PartitionLog.open(
        str(tmp_path / "t-0"),
        topic_partition=PLACE,
        topic_id=Uuid(bytes(15) + b"\x01"),
        config=TopicConfig.of(BrokerConfig.of({}), {}),
        now_ms=0,
    )
    return Partition(log, leader_epoch=0, flusher=Flusher())


def flush(partition: Partition) -> None:
    partition.log.flush()
    partition.on_flushed()


def let_wait(partition: Partition) -> None:
    partition.log.config = TopicConfig.of(BrokerConfig.of({}), {"flush.messages": "1000"})


async def passes(writer: MarkerWriter, nursery: trio.Nursery) -> None:

    nursery.start_soon(writer.run)
    await trio.sleep(10)


async def test_a_marker_is_reported_at_once_if_it_is_committed(partition):
    orderer = Orderer()
    MarkerWriter(Asked(partition)).write(PLACE, END, orderer)
    assert orderer.told == [PLACE]
    assert partition.watchers == {}


async def test_a_marker_is_reported_when_it_is_committed(partition):
    let_wait(partition)
    orderer = Orderer()
    MarkerWriter(Asked(partition)).write(PLACE, END, orderer)
    partition.notify()
    assert orderer.told == []
    flush(partition)
    assert orderer.told == [PLACE]
    assert partition.watchers == {}


@pytest.mark.parametrize(
    "error",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NOT_ENOUGH_REPLICAS,
    ],
)
async def test_T5_what_cannot_be_written_is_tried_again(partition, nursery, autojump_clock, error):
    orderer = Orderer()
    writer = MarkerWriter(Asked(partition, error, error, error))
    writer.write(PLACE, END, orderer)
    assert orderer.told == []
    await passes(writer, nursery)
    assert orderer.told == [PLACE]
    assert partition.log.log_end_offset == 1


async def test_T5_a_partition_that_goes_offline_gets_its_marker_later(
    partition, nursery, autojump_clock
):
    let_wait(partition)
    orderer = Orderer()
    asked = Asked(partition)
    writer = MarkerWriter(asked)
    writer.write(PLACE, END, orderer)
    partition.offline = True
    partition.notify()
    partition.offline = False
    await passes(writer, nursery)
    flush(partition)
    assert orderer.told == [PLACE]


async def test_an_order_that_nobody_waits_for_is_not_carried_out(
    partition, nursery, autojump_clock
):
    orderer = Orderer()
    writer = MarkerWriter(Asked(partition, ErrorCode.NOT_LEADER_OR_FOLLOWER))
    writer.write(PLACE, END, orderer)
    orderer.waiting = False
    await passes(writer, nursery)
    assert orderer.told == []
    assert partition.log.log_end_offset == 0


@pytest.mark.parametrize(
    ("error", "is_reported"),
    [
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, True),
        (ErrorCode.INVALID_PRODUCER_EPOCH, True),
        (ErrorCode.TRANSACTION_COORDINATOR_FENCED, False),
    ],
)
async def test_what_never_can_be_written_is_not_tried_again(
    partition, nursery, autojump_clock, error, is_reported
):
    orderer = Orderer()
    writer = MarkerWriter(Asked(partition, error))
    writer.write(PLACE, END, orderer)
    await passes(writer, nursery)
    assert orderer.told == ([PLACE] if is_reported else [])
    assert partition.log.log_end_offset == 0
