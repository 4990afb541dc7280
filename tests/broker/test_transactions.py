"""Transactions over the wire: what partitions take and what readers see."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbroker.records import Record, build_batch
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.end_txn import EndTxnResponse
from kbroker.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.broker.conversation import TIMESTAMP_MS, Conversation, batch, data_of
from tests.broker.transacting import (
    V1,
    V2,
    Transactor,
    producers,
    read,
    state_of,
    transactor,
    until,
    until_complete,
)

# With the second one nothing is committed before it is flushed, so every answer comes later.
MODES = {
    "at once": {},
    "when flushed": {
        "log.flush.interval.messages": "1",
        # However slow the disk is today.
        "add.partitions.to.txn.retry.backoff.max.ms": "30000",
    },
}


@pytest.fixture(params=list(MODES))
def talk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Conversation]:
    with Broker(data_dir=str(tmp_path), configs=MODES[request.param]) as broker:
        conversation = Conversation.with_broker(broker)
        conversation.create_topic("t", partitions=3)
        yield conversation
        conversation.connection.close()


# --- committing and aborting -----------------------------------------------------------


@pytest.mark.parametrize("is_v2", [True, False])
def test_T17_readers_of_committed_data_see_all_or_nothing_others_see_all(talk, is_v2):
    producer = transactor(talk, is_v2=is_v2)
    for number, commit in enumerate([True, False, True]):
        for partition in range(2):
            assert producer.write(b"%d" % number, partition=partition) is ErrorCode.NONE
        assert producer.end(commit=commit) is ErrorCode.NONE
        until_complete(talk)

    for partition in range(2):
        assert read(talk, committed=True, partition=partition) == ["0", "2"]
        assert read(talk, committed=False, partition=partition) == ["0", "1", "2"]
    assert read(talk, committed=False, partition=2) == []


def test_T9_what_is_undecided_is_not_seen(talk):
    producer = transactor(talk)
    talk.produce("t", batch(b"before"))
    producer.write(b"inside")
    talk.produce("t", batch(b"behind"))

    assert read(talk, committed=True) == ["before"]
    data = data_of(talk.fetch({("t", 0): 0}, isolation_level=1))["t", 0]
    assert (data.last_stable_offset, data.high_watermark) == (1, 3)
    producer.end()
    until_complete(talk)
    assert read(talk, committed=True) == ["before", "inside", "behind"]


def test_T11_the_beginning_is_known_before_the_first_batch_is_acknowledged(talk):
    producer = transactor(talk)
    assert producer.write(b"a", partition=1) is ErrorCode.NONE

    described = state_of(talk)
    assert described.transaction_state == "Ongoing"
    assert [(each.topic, each.partitions) for each in described.topics] == [("t", [1])]
    (known,) = producers(talk, partition=1)
    assert known.current_txn_start_offset == 0


def test_several_partitions_in_one_request(talk):
    producer = transactor(talk)
    batches = {index: producer.batch(index, b"p%d" % index) for index in range(3)}
    assert [each.error_code for each in producer.send(batches)] == [0, 0, 0]
    again = {index: producer.batch(index, b"q%d" % index) for index in range(3)}
    assert [each.base_offset for each in producer.send(again)] == [1, 1, 1]
    producer.end()
    until_complete(talk)
    for index in range(3):
        assert read(talk, committed=True, partition=index) == [f"p{index}", f"q{index}"]


def test_the_next_transaction_may_begin_at_once(talk):
    """While the markers of the last one wait for their commit, its batches wait too."""
    producer = transactor(talk)
    for number in range(5):
        assert producer.write(b"%d" % number) is ErrorCode.NONE
        assert producer.end() is ErrorCode.NONE
    until_complete(talk)
    assert read(talk, committed=True) == ["0", "1", "2", "3", "4"]


def test_batches_of_a_producer_stay_in_order_however_fast_they_come(talk):
    producer = transactor(talk)
    requests = [
        producer.produce_request({0: producer.batch(0, b"%d" % number)}) for number in range(20)
    ]
    answers = talk.connection.pipeline(requests, version=V2)
    assert [each.responses[0].partition_responses[0].base_offset for each in answers] == list(
        range(20)
    )


# --- what is refused -------------------------------------------------------------------


@pytest.mark.parametrize("is_v2", [True, False])
def test_P5_a_zombie_is_fenced(talk, is_v2):
    zombie = transactor(talk, is_v2=is_v2)
    zombie.write(b"a")
    new = Transactor(talk.connection, is_v2=is_v2)
    assert new.init() is ErrorCode.CONCURRENT_TRANSACTIONS
    until(lambda: new.init() is ErrorCode.NONE)

    assert zombie.write(b"b", sequence=1) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert zombie.end() is ErrorCode.PRODUCER_FENCED
    assert new.write(b"c") is ErrorCode.NONE
    assert new.end() is ErrorCode.NONE
    until_complete(talk)
    assert read(talk, committed=True) == ["c"]


def test_T1_nothing_of_a_transaction_touches_the_next_one(talk):
    producer = transactor(talk)
    late_batch = producer.produce_request({0: producer.batch(0, b"late", sequence=1)})
    late_elsewhere = producer.produce_request({2: producer.batch(2, b"late", sequence=0)})
    late_end = producer.end_request(commit=False)
    producer.write(b"first")
    producer.end()
    until_complete(talk)
    producer.write(b"second")

    for late in (late_batch, late_elsewhere):
        (answer,) = talk.connection.pipeline([late], version=V2)
        code = answer.responses[0].partition_responses[0].error_code
        assert code == ErrorCode.INVALID_PRODUCER_EPOCH
    answer = talk.connection.ask(late_end, EndTxnResponse, version=5)
    assert answer.error_code == ErrorCode.PRODUCER_FENCED
    assert producer.end() is ErrorCode.NONE
    until_complete(talk)
    assert read(talk, committed=True) == ["first", "second"]
    assert read(talk, committed=False, partition=2) == []


@pytest.mark.parametrize(
    ("version", "error"),
    [(9, ErrorCode.INVALID_TXN_STATE), (V1, ErrorCode.TRANSACTION_ABORTABLE)],
)
def test_T2_old_clients_must_have_added_the_partition(talk, version, error):
    producer = transactor(talk, is_v2=False)
    (answer,) = producer.send({0: producer.batch(0, b"a", sequence=0)}, version=version)
    assert answer.error_code == error
    assert producers(talk) == []

    assert producer.add(0) is ErrorCode.NONE
    (answer,) = producer.send({0: producer.batch(0, b"a", sequence=0)}, version=version)
    assert answer.error_code == ErrorCode.NONE


def test_T2_a_late_batch_of_an_old_client_does_not_hang(talk):
    """After the end of its transaction a batch would open one that nobody ends."""
    producer = transactor(talk, is_v2=False)
    producer.write(b"a")
    producer.end()
    until_complete(talk)
    (answer,) = producer.send({0: producer.batch(0, b"late", sequence=1)})
    assert answer.error_code == ErrorCode.TRANSACTION_ABORTABLE
    assert read(talk, committed=True) == ["a"]


def test_T3_a_higher_sequence_does_not_overtake_one_that_must_come_again(talk):
    producer = transactor(talk, is_v2=False)
    (first,) = producer.send({0: producer.batch(0, b"0", sequence=0)})
    assert first.error_code == ErrorCode.TRANSACTION_ABORTABLE
    producer.add(0)

    (second,) = producer.send({0: producer.batch(0, b"1", sequence=1)})
    assert second.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    for sequence in (0, 1):
        data = producer.batch(0, b"%d" % sequence, sequence=sequence)
        (answer,) = producer.send({0: data})
        assert answer.error_code == ErrorCode.NONE


def test_T3_in_version_2_a_transaction_begins_with_sequence_0(talk):
    producer = transactor(talk)
    assert producer.write(b"b", sequence=1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producer.write(b"a", sequence=0) is ErrorCode.NONE


def test_T16_outside_the_transaction_its_producer_writes_nothing(talk):
    producer = transactor(talk)
    producer.write(b"a")
    outside = batch(b"b", producer_id=producer.producer_id, sequence=1)
    assert talk.produce("t", outside).error_code == ErrorCode.INVALID_TXN_STATE


def test_T16_clients_write_no_markers(talk):
    producer = transactor(talk)
    producer.write(b"a")
    marker = build_batch(
        [Record(0, TIMESTAMP_MS, b"\x00\x00\x00\x01", b"\x00\x00\x00\x00\x00\x00")],
        producer_id=producer.producer_id,
        producer_epoch=0,
        base_sequence=1,
        is_transactional=True,
        is_control=True,
    )
    (answer,) = producer.send({0: marker})
    assert answer.error_code == ErrorCode.INVALID_RECORD


def test_a_batch_without_a_transactional_id_is_refused(talk):
    producer = transactor(talk)
    answer = talk.produce("t", producer.batch(0, b"a"))
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def test_a_request_has_one_producer(talk):
    producer = transactor(talk)
    mine = producer.batch(0, b"a")
    other = transactor(talk, "y").batch(1, b"b")
    answers = producer.send({0: mine, 1: other})
    assert [each.error_code for each in answers] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    ]


@pytest.mark.parametrize("is_v2", [True, False])
def test_a_stranger_cannot_write(talk, is_v2):
    producer = transactor(talk, is_v2=is_v2)
    producer.producer_id += 500
    (answer,) = producer.send({0: producer.batch(0, b"a")})
    assert answer.error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_P1_a_batch_that_comes_twice_is_written_once(talk):
    producer = transactor(talk)
    data = producer.batch(0, b"a")
    first, second = (producer.send({0: bytearray(data)})[0] for _ in range(2))
    assert (first.base_offset, second.base_offset) == (0, 0)
    assert second.error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", range(6))
def test_init_producer_id_in_every_version(talk, version):
    transactor(talk)
    request = InitProducerIdRequest(transactional_id="v", transaction_timeout_ms=1000)
    answer = talk.connection.ask(request, InitProducerIdResponse, version=version)
    assert (answer.error_code, answer.producer_epoch) == (ErrorCode.NONE, 0)
    if version >= 3:
        again = InitProducerIdRequest(
            transactional_id="v",
            transaction_timeout_ms=1000,
            producer_id=answer.producer_id,
            producer_epoch=answer.producer_epoch + 5,
        )
        answer = talk.connection.ask(again, InitProducerIdResponse, version=version)
        is_old = version < 4
        assert answer.error_code == (
            ErrorCode.INVALID_PRODUCER_EPOCH if is_old else ErrorCode.PRODUCER_FENCED
        )
