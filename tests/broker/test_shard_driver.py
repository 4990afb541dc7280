"""The driver of a shard: what is written inside a transaction, and what its marker makes of it."""

from pathlib import Path

import pytest
import trio

from kbroker.broker.clock import Clock
from kbroker.broker.group_coordinator import GROUP_RECORDS
from kbroker.broker.partition import EndOfTransaction, Partition
from kbroker.broker.shard_driver import Producer, ShardDriver, ShardState
from kbroker.broker.stored_records import stored_records
from kbroker.config import BrokerConfig, TopicConfig
from kbroker.groups import GroupRecord, GroupSettings, GroupShard
from kbroker.log import InvalidProducerEpoch, PartitionLog
from kbroker.machine import Outcome, Ticket
from kbroker.model import TopicPartition, Uuid
from kbroker.records import Marker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.heartbeat import HeartbeatResponse
from kbroker.wire.messages.offset_commit_record import OffsetCommitKey, OffsetCommitValue
from kbroker.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from tests.groups.bench import Topics

GroupDriver = ShardDriver[GroupShard, GroupRecord]


class NeverFlushing:
    def request(self, partition: Partition) -> None:
        raise AssertionError("nobody asked for flushes")


@pytest.fixture
def partition(tmp_path: Path) -> Partition:
    log = PartitionLog.open(
        str(tmp_path / "__consumer_offsets-0"),
        topic_partition=TopicPartition("__consumer_offsets", 0),
        topic_id=Uuid(bytes(15) + b"\x01"),
        config=TopicConfig.of(BrokerConfig.of({}), {}),
        now_ms=0,
    )
    return Partition(log, leader_epoch=0, flusher=NeverFlushing())


def driver_of(partition: Partition) -> GroupDriver:
    shard = GroupShard(GroupSettings(), Topics())
    return ShardDriver(partition, shard, GROUP_RECORDS, Clock(), lambda _: None)


def offset(number: int) -> GroupRecord:
    key = OffsetCommitKey(group="g", topic="t", partition=0)
    return GroupRecord(key, OffsetCommitValue(offset=number), 4)


def commit(driver: GroupDriver, number: int, producer: Producer | None) -> ErrorCode:
    def decide(shard: GroupShard, ticket: Ticket) -> Outcome[GroupRecord, HeartbeatResponse]:
        return Outcome((offset(number),), ((ticket, HeartbeatResponse()),))

    answer = driver.perform(decide, lambda error: HeartbeatResponse(error_code=error), producer)
    assert isinstance(answer, HeartbeatResponse)
    return ErrorCode(answer.error_code)


def committed(driver: GroupDriver) -> int:
    topics = [OffsetFetchRequestTopics(name="t", partition_indexes=[0])]
    request = OffsetFetchRequestGroup(group_id="g", topics=topics)
    outcome = driver.shard.offset_fetch(request, False, Ticket(0))
    return outcome.replies[0][1].topics[0].partitions[0].committed_offset


async def loaded_anew(partition: Partition) -> GroupDriver:
    driver = driver_of(partition)
    await driver.load()
    return driver


@pytest.mark.parametrize("is_committed", [True, False])
async def test_records_of_a_transaction_count_when_it_is_committed(partition, is_committed):
    driver = await loaded_anew(partition)
    assert commit(driver, 1, None) is ErrorCode.NONE
    assert commit(driver, 2, Producer(7, 0)) is ErrorCode.NONE
    assert committed(driver) == committed(await loaded_anew(partition)) == 1

    driver.write_marker(EndOfTransaction(7, 0, is_committed, 3))

    expected = 2 if is_committed else 1
    assert committed(driver) == committed(await loaded_anew(partition)) == expected


async def test_a_transaction_stands_in_the_log_as_one(partition):
    driver = await loaded_anew(partition)
    commit(driver, 2, Producer(7, 5))
    driver.write_marker(EndOfTransaction(7, 5, True, 3))

    (data, _), (control, marker) = stored_records(partition.log)
    assert (data.producer_id, data.producer_epoch, data.base_sequence) == (7, 5, -1)
    assert data.is_transactional
    assert not data.is_control
    assert (control.producer_id, control.producer_epoch, control.base_sequence) == (7, 5, -1)
    assert control.is_transactional
    assert marker == Marker(True, 3)


async def test_a_fenced_producer_is_refused_and_nobody_else(partition):
    driver = await loaded_anew(partition)
    commit(driver, 2, Producer(7, 5))
    driver.write_marker(EndOfTransaction(7, 5, True, 3))

    assert commit(driver, 9, Producer(7, 4)) is ErrorCode.INVALID_PRODUCER_EPOCH
    with pytest.raises(InvalidProducerEpoch):
        driver.write_marker(EndOfTransaction(7, 4, True, 3))

    assert driver.state is ShardState.ACTIVE
    assert committed(driver) == 2


async def test_effects_begin_when_the_records_are_committed(partition):
    begun: list[object] = []
    shard = GroupShard(GroupSettings(), Topics())
    driver = ShardDriver(partition, shard, GROUP_RECORDS, Clock(), lambda _: None, begun.extend)
    driver.activate()
    partition.log.config = TopicConfig.of(BrokerConfig.of({}), {"flush.messages": "1000"})

    driver.tell(lambda _: Outcome(records=(offset(1),), effects=("first",)))
    driver.tell(lambda _: Outcome(effects=("second",)))
    assert begun == []

    with trio.fail_after(5):
        await trio.to_thread.run_sync(partition.log.flush)
    partition.on_flushed()
    assert begun == ["first", "second"]
