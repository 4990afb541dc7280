"""TxnOffsetCommit 6, which Apache Kafka 4.3.1 does not have: topics go by their ids (KIP-1319)."""

from uuid import uuid4

import pytest

from kbroker.model import Uuid
from kbroker.wire.error_codes import ErrorCode
from tests.handlers.administrator import Administrator
from tests.handlers.test_txn_offset_commit import (
    commit,
    fetched,
    patiently_stable,
    producer_of,
)
from tests.scenarios.raw_transactions import find_coordinator


@pytest.fixture
def topic_id(admin: Administrator) -> Uuid:
    find_coordinator(admin, "group", of_groups=True)
    return admin.must_create("read")


def test_an_offset_of_a_topic_by_its_id(admin: Administrator, topic_id: Uuid):
    producer = producer_of(admin, "read")

    assert commit(producer, "group", (topic_id, 0, 7), version=6) == [ErrorCode.NONE]
    assert producer.end(commit=True) is ErrorCode.NONE

    patiently_stable(admin, "group", "read")
    assert fetched(admin, "group", "read") == (ErrorCode.NONE, 7)


def test_a_topic_that_nobody_knows_by_this_id(admin: Administrator, topic_id: Uuid):
    producer = producer_of(admin, "read")
    stranger = Uuid(uuid4().bytes)

    codes = commit(producer, "group", (topic_id, 0, 7), (stranger, 0, 7), version=6)

    assert codes == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_ID]


def test_a_member_of_a_group_that_nobody_knows(admin: Administrator, topic_id: Uuid):
    producer = producer_of(admin, "read")

    codes = commit(
        producer, "group", (topic_id, 0, 7), version=6, generation=3, member_id="somebody"
    )

    assert codes == [ErrorCode.GROUP_ID_NOT_FOUND]
