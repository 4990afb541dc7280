"""What Flink's sink does with transactions: an id for each checkpoint, ended by another process.

It probes transactional ids until one has never been used (epoch 0), writes with it, writes down
the producer's id and epoch in its checkpoint, and after a restart ends the transaction from there,
without InitProducerId. It also ends transactions that never began.
"""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kbroker.client.connection import Connection
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from tests.handlers.administrator import Administrator
from tests.scenarios.raw_transactions import RawProducer
from tests.scenarios.reading import read_values


@pytest.fixture
def connection(bootstrap: str) -> Iterator[Administrator]:
    host, port = bootstrap.split(":")
    with Administrator(host, int(port)) as connection:
        yield connection


@pytest.fixture
def topic(connection: Administrator) -> str:
    name = f"sink-{uuid4().hex[:8]}"
    connection.must_create(name)
    return name


@pytest.mark.parametrize("version", [1, 2])
def test_an_id_that_nobody_has_used_gets_epoch_0_and_no_other_does(
    connection: Administrator, topic: str, version: int
):
    """Flink takes epoch 0 for the sign that there is nothing to abort behind this id."""
    first = RawProducer(connection, f"{topic}-{version}", version=version)
    assert first.init() is ErrorCode.NONE
    assert first.producer_epoch == 0

    second = RawProducer(connection, f"{topic}-{version}", version=version)
    assert second.init() is ErrorCode.NONE
    assert second.producer_epoch > 0

    assert first.send(topic, "zombie") in (
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.PRODUCER_FENCED,
    )


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_is_ended_by_another_process_that_knows_id_and_epoch(
    bootstrap: str, connection: Administrator, topic: str, version: int, commit: bool
):
    writer = RawProducer(connection, f"{topic}-{version}", version=version)
    assert writer.init() is ErrorCode.NONE
    assert writer.send(topic, "in the checkpoint") is ErrorCode.NONE

    with Connection(*connection.address) as elsewhere:
        restored = RawProducer(elsewhere, f"{topic}-{version}", version=version)
        restored.remember(writer.producer_id, writer.producer_epoch)
        assert restored.end(commit=commit) is ErrorCode.NONE
        # A checkpoint may be restored twice.
        again = RawProducer(elsewhere, f"{topic}-{version}", version=version)
        again.remember(writer.producer_id, writer.producer_epoch)
        assert again.end(commit=commit) is ErrorCode.NONE
        assert again.producer_epoch == restored.producer_epoch

    next_one = RawProducer(connection, f"{topic}-{version}", version=version)
    assert next_one.init() is ErrorCode.NONE
    assert read_values(bootstrap, topic) == (["in the checkpoint"] if commit else [])


@pytest.mark.parametrize(
    ("version", "commit", "error"),
    [
        # In version 2 an abort of nothing gives a new epoch; a commit of nothing is a mistake.
        (2, False, ErrorCode.NONE),
        (2, True, ErrorCode.INVALID_TXN_STATE),
        (1, False, ErrorCode.INVALID_TXN_STATE),
        (1, True, ErrorCode.INVALID_TXN_STATE),
    ],
)
def test_the_end_of_a_transaction_that_never_began_harms_nobody(
    bootstrap: str, connection: Administrator, topic: str, version: int, commit: bool, error: int
):
    """Whatever it is answered, the producer goes on."""
    producer = RawProducer(connection, f"{topic}-{version}", version=version)
    assert producer.init() is ErrorCode.NONE

    assert producer.end(commit=commit) is error

    assert producer.send(topic, "afterwards") is ErrorCode.NONE
    assert producer.end(commit=True) is ErrorCode.NONE
    next_one = RawProducer(connection, f"{topic}-{version}", version=version)
    assert next_one.init() is ErrorCode.NONE
    assert read_values(bootstrap, topic) == ["afterwards"]


def test_a_pool_of_ids_is_found_by_its_producers(connection: Administrator, topic: str):
    """Flink's other way: it asks which of its producers have something open."""
    producers = [RawProducer(connection, f"{topic}-{number}") for number in range(3)]
    for producer in producers:
        assert producer.init() is ErrorCode.NONE
    assert producers[1].send(topic, "open") is ErrorCode.NONE

    request = ListTransactionsRequest(
        state_filters=["Ongoing"], producer_id_filters=[each.producer_id for each in producers]
    )
    listed = connection.ask(request, ListTransactionsResponse).transaction_states

    assert [(each.transactional_id, each.producer_id) for each in listed] == [
        (producers[1].transactional_id, producers[1].producer_id)
    ]
    assert producers[1].end(commit=True) is ErrorCode.NONE
