"""Offsets in transactions, in plain requests: every version, and everything that is refused."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kbroker.model import Uuid
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from kbroker.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from tests.handlers.administrator import Administrator
from tests.scenarios.raw_transactions import (
    TXN_OFFSET_COMMIT,
    RawProducer,
    find_coordinator,
    patiently,
)

UNSTABLE = ErrorCode.UNSTABLE_OFFSET_COMMIT
# Versions that Apache Kafka 4.3.1 has too; the next one goes by topic ids.
NAMED = range(6)


@pytest.fixture
def connection(bootstrap: str) -> Iterator[Administrator]:
    host, port = bootstrap.split(":")
    with Administrator(host, int(port)) as connection:
        yield connection


@pytest.fixture
def topic(connection: Administrator) -> str:
    name = f"read-{uuid4().hex[:8]}"
    connection.must_create(name)
    return name


@pytest.fixture
def group(connection: Administrator, topic: str) -> str:
    """A group whose coordinator is there."""
    find_coordinator(connection, f"group-{topic}", of_groups=True)
    return f"group-{topic}"


def producer_of(connection: Administrator, topic: str, version: int = 2) -> RawProducer:
    producer = RawProducer(connection, f"id-{topic}", version=version)
    assert producer.init() is ErrorCode.NONE
    return producer


def commit(
    producer: RawProducer,
    group: str,
    *topics: tuple[str | Uuid, int, int],
    version: int,
    generation: int = -1,
    member_id: str = "",
) -> list[ErrorCode]:
    """The error code of each partition, in the order of the request."""
    request = TxnOffsetCommitRequest(
        transactional_id=producer.transactional_id,
        group_id=group,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
    )
    for topic, partition, offset in topics:
        place = TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
        each = TxnOffsetCommitRequestTopic(partitions=[place])
        if isinstance(topic, str):
            each.name = topic
        else:
            each.topic_id = topic
        request.topics.append(each)
    codes: dict[tuple[object, int], ErrorCode] = {}

    def ask() -> ErrorCode:
        answer = producer.connection.ask(request, TxnOffsetCommitResponse, version=version)
        for topic in answer.topics:
            for each in topic.partitions:
                name = topic.topic_id if version >= 6 else topic.name
                codes[name, each.partition_index] = ErrorCode(each.error_code)
        # An unknown topic is no reason to try again here.
        known = [code for code in codes.values() if code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
        return known[0] if known else ErrorCode.NONE

    patiently(ask)
    return [codes[topic, partition] for topic, partition, _ in topics]


def fetched(connection: Administrator, group: str, topic: str) -> tuple[ErrorCode, int]:
    """What a reader that wants certainty is told."""
    asked = OffsetFetchRequestTopics(name=topic, partition_indexes=[0])
    request = OffsetFetchRequest(
        groups=[OffsetFetchRequestGroup(group_id=group, topics=[asked])], require_stable=True
    )
    answer = connection.ask(request, OffsetFetchResponse, version=8)
    (each,) = answer.groups[0].topics[0].partitions
    return ErrorCode(each.error_code), each.committed_offset


@pytest.mark.parametrize("version", NAMED)
def test_every_version_commits_when_the_transaction_is_committed(
    connection: Administrator, topic: str, group: str, version: int
):
    """T13: old clients announce the group, new ones need not."""
    transactions = 2 if version >= TXN_OFFSET_COMMIT[2] else 1
    producer = producer_of(connection, topic, transactions)
    if transactions == 1:
        assert producer.add_offsets(group) is ErrorCode.NONE

    assert commit(producer, group, (topic, 0, 7), version=version) == [ErrorCode.NONE]
    assert fetched(connection, group, topic) == (UNSTABLE, -1)
    assert producer.end(commit=True) is ErrorCode.NONE

    patiently_stable(connection, group, topic)
    assert fetched(connection, group, topic) == (ErrorCode.NONE, 7)


def patiently_stable(connection: Administrator, group: str, topic: str) -> None:
    """An end is answered before the partitions know of it."""
    for _ in range(200):
        if fetched(connection, group, topic)[0] is not UNSTABLE:
            return


@pytest.mark.parametrize("version", [1, 2])
def test_what_is_aborted_never_was(connection: Administrator, topic: str, group: str, version: int):
    """T14."""
    producer = producer_of(connection, topic, version)
    assert producer.commit_offset(group, topic, 7) is ErrorCode.NONE
    assert producer.end(commit=False) is ErrorCode.NONE

    patiently_stable(connection, group, topic)
    assert fetched(connection, group, topic) == (ErrorCode.NONE, -1)


def test_what_does_not_exist_is_refused_alone(connection: Administrator, topic: str, group: str):
    producer = producer_of(connection, topic)

    codes = commit(producer, group, (topic, 0, 7), (topic, 5, 7), ("nowhere", 0, 7), version=5)

    assert codes == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    codes = commit(producer, group, ("nowhere", 0, 7), version=5)
    assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_a_group_must_have_a_name(connection: Administrator, topic: str):
    producer = producer_of(connection, topic)

    codes = commit(producer, "", (topic, 0, 7), version=5)

    assert codes == [ErrorCode.INVALID_GROUP_ID]


@pytest.mark.parametrize(
    ("version", "error"),
    [(3, ErrorCode.INVALID_TXN_STATE), (4, ErrorCode.TRANSACTION_ABORTABLE)],
)
def test_a_group_that_was_not_announced_is_refused(
    connection: Administrator, topic: str, group: str, version: int, error: ErrorCode
):
    """T2: version 1 of transactions, with and without the error that says what to do."""
    producer = producer_of(connection, topic, 1)
    assert producer.add_partition(topic) is ErrorCode.NONE

    assert commit(producer, group, (topic, 0, 7), version=version) == [error]


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_zombie_is_refused(connection: Administrator, topic: str, group: str, version: int):
    transactions = 2 if version >= TXN_OFFSET_COMMIT[2] else 1
    zombie = producer_of(connection, topic, transactions)
    producer_of(connection, topic, transactions)

    codes = commit(zombie, group, (topic, 0, 7), version=version)

    assert codes == [ErrorCode.INVALID_PRODUCER_EPOCH]


def test_a_member_that_nobody_knows_is_refused(connection: Administrator, topic: str, group: str):
    """T15."""
    producer = producer_of(connection, topic)

    codes = commit(producer, group, (topic, 0, 7), version=5, generation=3, member_id="somebody")

    assert codes == [ErrorCode.ILLEGAL_GENERATION]
    assert producer.end(commit=False) is ErrorCode.NONE
