"""Messages of a transaction that arrive when the next one runs: nothing of them must take effect.

A network may deliver a request late, and twice. Under version 1 of transactions a Produce, an
AddPartitionsToTxn or an EndTxn of transaction n that comes during n+1 looks like one of n+1, which
is the flaw that Jepsen found in Kafka's protocol. Version 2 gives each transaction an epoch of its
own (T1), and what is late is refused.
"""

import time
from collections.abc import Iterator
from uuid import uuid4

import pytest

from kbroker.wire.error_codes import ErrorCode
from tests.handlers.administrator import Administrator
from tests.scenarios.raw_transactions import RawProducer
from tests.scenarios.reading import read_values

# Which of both it is depends on whether the log or the coordinator sees it first.
FENCED = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)


@pytest.fixture
def connection(bootstrap: str) -> Iterator[Administrator]:
    host, port = bootstrap.split(":")
    with Administrator(host, int(port)) as connection:
        yield connection


@pytest.fixture
def topic(connection: Administrator) -> str:
    name = f"late-{uuid4().hex[:8]}"
    connection.must_create(name, partitions=2)
    return name


@pytest.fixture
def producer(connection: Administrator, topic: str) -> RawProducer:
    producer = RawProducer(connection, f"id-{topic}")
    assert producer.init() is ErrorCode.NONE
    return producer


def wait_for_the_marker(bootstrap: str, topic: str) -> None:
    """An end is answered before the partitions know of it; what comes meanwhile is part of it."""
    deadline = time.monotonic() + 10
    while read_values(bootstrap, topic) != ["n"]:
        assert time.monotonic() < deadline, "no marker"


@pytest.mark.parametrize("commit", [True, False])
def test_a_late_produce_is_not_part_of_the_next_transaction(
    bootstrap: str, producer: RawProducer, topic: str, commit: bool
):
    """T1."""
    assert producer.send(topic, "n") is ErrorCode.NONE
    again = producer.produce_request(topic, "n", sequence=0)
    overtaken = producer.produce_request(topic, "overtaken")
    elsewhere = producer.produce_request(topic, "elsewhere", partition=1)
    assert producer.end(commit=commit) is ErrorCode.NONE

    assert producer.send(topic, "n+1") is ErrorCode.NONE
    for late in (again, overtaken, elsewhere):
        assert producer.ask(late) in FENCED
    assert producer.end(commit=True) is ErrorCode.NONE

    expected = ["n", "n+1"] if commit else ["n+1"]
    assert read_values(bootstrap, topic) == expected
    assert read_values(bootstrap, topic, committed=False) == ["n", "n+1"]
    assert read_values(bootstrap, topic, committed=False, partition=1) == []


def test_a_late_produce_begins_no_transaction_after_the_last_one(
    bootstrap: str, producer: RawProducer, topic: str
):
    """A transaction that nobody knows of would hang for ever (T12)."""
    assert producer.send(topic, "n") is ErrorCode.NONE
    late = producer.produce_request(topic, "late")
    elsewhere = producer.produce_request(topic, "elsewhere", partition=1)
    assert producer.end(commit=True) is ErrorCode.NONE
    wait_for_the_marker(bootstrap, topic)

    assert producer.ask(late) in FENCED
    assert producer.ask(elsewhere) in FENCED

    assert read_values(bootstrap, topic) == ["n"]
    assert read_values(bootstrap, topic, committed=False, partition=1) == []


@pytest.mark.parametrize("commit", [True, False])
def test_a_late_end_does_not_end_the_next_transaction(
    bootstrap: str, producer: RawProducer, topic: str, commit: bool
):
    """T1, T6."""
    assert producer.send(topic, "n") is ErrorCode.NONE
    late = producer.end_request(commit=commit)
    assert producer.end(commit=commit) is ErrorCode.NONE

    assert producer.send(topic, "first") is ErrorCode.NONE
    assert producer.ask(late) in FENCED
    assert producer.send(topic, "second") is ErrorCode.NONE
    assert producer.end(commit=not commit) is ErrorCode.NONE

    expected = ["n"] if commit else ["first", "second"]
    assert read_values(bootstrap, topic) == expected


def test_an_end_that_is_repeated_at_once_says_the_same_again(
    bootstrap: str, producer: RawProducer, topic: str
):
    """T6: the answer to the first may be lost."""
    assert producer.send(topic, "n") is ErrorCode.NONE
    again = producer.end_request(commit=True)
    epoch = producer.producer_epoch
    assert producer.ask(again) is ErrorCode.NONE
    assert producer.end(commit=True) is ErrorCode.NONE
    assert producer.producer_epoch == epoch + 1

    assert producer.send(topic, "n+1") is ErrorCode.NONE
    assert producer.end(commit=False) is ErrorCode.NONE
    assert read_values(bootstrap, topic) == ["n"]


def test_a_late_announcement_takes_no_partition_into_the_next_transaction(
    bootstrap: str, producer: RawProducer, topic: str
):
    """T1: a partition that is never written would still get a marker."""
    late = producer.add_partition_request(topic, 1)
    assert producer.send(topic, "n") is ErrorCode.NONE
    assert producer.end(commit=True) is ErrorCode.NONE

    assert producer.send(topic, "n+1") is ErrorCode.NONE
    assert producer.ask(late) in FENCED
    assert producer.end(commit=True) is ErrorCode.NONE

    assert read_values(bootstrap, topic) == ["n", "n+1"]


def test_in_version_1_a_produce_that_comes_after_the_end_is_refused(
    bootstrap: str, connection: Administrator, topic: str
):
    """T2: the epoch is still right, but no transaction is open."""
    producer = RawProducer(connection, f"old-{topic}", version=1)
    assert producer.init() is ErrorCode.NONE
    assert producer.send(topic, "n") is ErrorCode.NONE
    late = producer.produce_request(topic, "late")
    elsewhere = producer.produce_request(topic, "elsewhere", partition=1)
    assert producer.end(commit=True) is ErrorCode.NONE
    wait_for_the_marker(bootstrap, topic)

    refusals = (ErrorCode.INVALID_TXN_STATE, ErrorCode.TRANSACTION_ABORTABLE)
    assert producer.ask(late) in refusals
    assert producer.ask(elsewhere) in refusals

    assert read_values(bootstrap, topic) == ["n"]
    assert read_values(bootstrap, topic, committed=False, partition=1) == []
