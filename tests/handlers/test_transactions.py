"""The APIs of transactions in every version: their errors, and the words for old clients."""

from collections.abc import Iterator

import pytest

from kbroker.client.connection import Connection
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from kbroker.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from kbroker.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kbroker.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kbroker.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from tests.broker.conversation import Conversation
from tests.broker.transacting import Transactor, read, state_of, transactor, until_complete


@pytest.fixture
def talk() -> Iterator[Conversation]:
    with Broker() as broker:
        conversation = Conversation.with_broker(broker)
        conversation.create_topic("t", partitions=3)
        yield conversation
        conversation.connection.close()


def fenced(version: int, known_from: int) -> ErrorCode:
    """What a zombie is told: clients before ``known_from`` do not know the newer word."""
    is_old = version < known_from
    return ErrorCode.INVALID_PRODUCER_EPOCH if is_old else ErrorCode.PRODUCER_FENCED


def add_offsets(
    connection: Connection, producer: Transactor, version: int, group: str = "g", epoch: int = 0
) -> ErrorCode:
    request = AddOffsetsToTxnRequest(
        transactional_id=producer.transactional_id,
        producer_id=producer.producer_id,
        producer_epoch=epoch,
        group_id=group,
    )
    answer = connection.ask(request, AddOffsetsToTxnResponse, version=version)
    return ErrorCode(answer.error_code)


@pytest.mark.parametrize("version", range(5))
def test_add_offsets_makes_the_topic_it_needs(talk, version):
    """A consumer that assigns its partitions itself may have asked for no coordinator before."""
    producer = transactor(talk)
    assert add_offsets(talk.connection, producer, version) is ErrorCode.NONE
    assert add_offsets(talk.connection, producer, version, group="h") is ErrorCode.NONE
    described = state_of(talk)
    assert [topic.topic for topic in described.topics] == ["__consumer_offsets"]
    assert len(described.topics[0].partitions) == 2
    assert add_offsets(talk.connection, producer, version, epoch=9) is fenced(version, 2)
    nobody = Transactor(talk.connection, "")
    assert add_offsets(talk.connection, nobody, version) is ErrorCode.INVALID_REQUEST


def add(
    producer: Transactor, version: int, *partitions: int, epoch: int = 0, verify: bool = False
) -> list[ErrorCode]:
    topics = [AddPartitionsToTxnTopic(name="t", partitions=list(partitions))]
    request = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=producer.transactional_id,
        v3_and_below_producer_id=producer.producer_id,
        v3_and_below_producer_epoch=epoch,
        v3_and_below_topics=topics,
    )
    if version >= 4:
        transaction = AddPartitionsToTxnTransaction(
            transactional_id=producer.transactional_id,
            producer_id=producer.producer_id,
            producer_epoch=epoch,
            verify_only=verify,
            topics=topics,
        )
        request = AddPartitionsToTxnRequest(transactions=[transaction, transaction])
    answer = producer.connection.ask(request, AddPartitionsToTxnResponse, version=version)
    results = answer.results_by_topic_v3_and_below
    if version >= 4:
        first, second = answer.results_by_transaction
        assert first.topic_results == second.topic_results
        results = first.topic_results
    return [ErrorCode(each.partition_error_code) for each in results[0].results_by_partition]


@pytest.mark.parametrize("version", range(6))
def test_add_partitions_in_every_version(talk, version):
    producer = transactor(talk)
    assert add(producer, version, 0, 1) == [ErrorCode.NONE] * 2
    assert state_of(talk).topics[0].partitions == [0, 1]
    assert add(producer, version, 2, 3) == [
        ErrorCode.OPERATION_NOT_ATTEMPTED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert add(producer, version, 2, epoch=5) == [fenced(version, 2)]
    stranger = transactor(talk, "other")
    stranger.transactional_id = "x"
    assert add(stranger, version, 0) == [ErrorCode.INVALID_PRODUCER_ID_MAPPING]
    assert state_of(talk).topics[0].partitions == [0, 1]


@pytest.mark.parametrize("version", [4, 5])
def test_partitions_are_verified_and_not_added(talk, version):
    producer = transactor(talk)
    add(producer, 3, 0)
    assert add(producer, version, 0, 1, verify=True) == [
        ErrorCode.NONE,
        ErrorCode.TRANSACTION_ABORTABLE,
    ]
    assert state_of(talk).topics[0].partitions == [0]


@pytest.mark.parametrize("version", range(6))
def test_end_in_every_version(talk, version):
    producer = transactor(talk)
    add(producer, 3, 0)

    def end(epoch: int, name: str = "x", *, commit: bool = True) -> EndTxnResponse:
        request = EndTxnRequest(
            transactional_id=name,
            producer_id=producer.producer_id,
            producer_epoch=epoch,
            committed=commit,
        )
        return talk.connection.ask(request, EndTxnResponse, version=version)

    assert end(3).error_code == fenced(version, 2)
    assert end(0, "").error_code == ErrorCode.INVALID_REQUEST
    assert end(0, "nobody").error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    answer = end(0)
    assert answer.error_code == ErrorCode.NONE
    if version >= 5:
        assert (answer.producer_id, answer.producer_epoch) == (producer.producer_id, 1)
    assert end(0).error_code == ErrorCode.NONE
    assert end(0, commit=False).error_code == ErrorCode.INVALID_TXN_STATE


def test_before_anybody_asked_for_a_coordinator_there_is_none(talk):
    request = InitProducerIdRequest(transactional_id="x", transaction_timeout_ms=1000)
    answer = talk.connection.ask(request, InitProducerIdResponse, version=4)
    assert answer.error_code == ErrorCode.NOT_COORDINATOR
    request = EndTxnRequest(transactional_id="x")
    answer = talk.connection.ask(request, EndTxnResponse, version=4)
    assert answer.error_code == ErrorCode.NOT_COORDINATOR


@pytest.mark.parametrize(
    "changes",
    [{"transactional_id": ""}, {"producer_id": 5}, {"producer_epoch": 5}],
)
def test_what_makes_no_sense_is_refused(talk, changes):
    request = InitProducerIdRequest(
        **{"transactional_id": "x", "transaction_timeout_ms": 1000, **changes}
    )
    answer = talk.connection.ask(request, InitProducerIdResponse, version=4)
    assert (answer.error_code, answer.producer_id) == (ErrorCode.INVALID_REQUEST, -1)


def finalized(talk: Conversation) -> int:
    request = ApiVersionsRequest(client_software_name="t", client_software_version="1")
    answer = talk.connection.ask(request, ApiVersionsResponse, version=4)
    return {each.name: each.max_version_level for each in answer.finalized_features}[
        "transaction.version"
    ]


def test_a_cluster_can_go_back_to_version_1(talk):
    assert finalized(talk) == 2
    update = FeatureUpdateKey(feature="transaction.version", max_version_level=1, upgrade_type=2)
    request = UpdateFeaturesRequest(timeout_ms=5000, feature_updates=[update])
    answer = talk.connection.ask(request, UpdateFeaturesResponse, version=1)
    assert answer.error_code == ErrorCode.NONE
    assert finalized(talk) == 1

    producer = transactor(talk, is_v2=False)
    producer.write(b"a")
    producer.end()
    until_complete(talk)
    assert read(talk, committed=True) == ["a"]
    assert state_of(talk).producer_epoch == 0
