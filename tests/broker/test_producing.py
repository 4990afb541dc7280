"""Produce: where batches go, what is refused, and when the answer comes."""

import pytest

from kbroker.client.errors import ClientError
from kbroker.records import Compression, Record, build_batch
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.broker.conversation import TIMESTAMP_MS, Conversation, batch, data_of


def ask(
    talk: Conversation,
    topic: str,
    records: bytearray,
    *,
    version: int = 9,
    transactional_id: str | None = None,
) -> PartitionProduceResponse:
    """The answer to a request that the conversation has no words for."""
    data = TopicProduceData(
        name=topic, partition_data=[PartitionProduceData(index=0, records=records)]
    )
    request = ProduceRequest(acks=-1, transactional_id=transactional_id, topic_data=[data])
    answer = talk.connection.ask(request, ProduceResponse, version=version)
    return answer.responses[0].partition_responses[0]


def test_offsets_are_dense_and_answered(talk: Conversation, topic: str):
    talk.create_topic(topic)

    first = talk.produce(topic, batch(b"a", b"b"))
    second = talk.produce(topic, batch(b"c"), acks=1)

    assert (first.error_code, first.base_offset) == (ErrorCode.NONE, 0)
    assert (second.error_code, second.base_offset) == (ErrorCode.NONE, 2)
    assert (second.log_append_time_ms, second.log_start_offset) == (-1, 0)


def test_a_batch_that_was_sent_twice_is_there_once(talk: Conversation, topic: str):
    """P1: the answer to the retry is the offset of the original."""
    talk.create_topic(topic)

    first = talk.produce(topic, batch(b"a", producer_id=77, sequence=0))
    again = talk.produce(topic, batch(b"a", producer_id=77, sequence=0))
    gap = talk.produce(topic, batch(b"c", producer_id=77, sequence=2))

    assert (first.base_offset, again.base_offset) == (0, 0)
    assert gap.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert data_of(talk.fetch({(topic, 0): 0}))[topic, 0].high_watermark == 1


def test_a_broken_batch_is_refused_and_leaves_nothing(talk: Conversation, topic: str):
    talk.create_topic(topic)
    broken = batch(b"a")
    broken[-1] ^= 1

    assert talk.produce(topic, broken).error_code == ErrorCode.CORRUPT_MESSAGE
    assert talk.produce(topic, None).error_code == ErrorCode.INVALID_RECORD
    assert talk.produce(topic, batch(b"a")).base_offset == 0


@pytest.mark.parametrize(
    ("transactional_id", "error"),
    [
        (None, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        ("a", ErrorCode.NOT_ENOUGH_REPLICAS),
    ],
)
def test_a_transaction_that_nobody_could_end_is_not_begun(
    talk: Conversation, topic: str, transactional_id: str | None, error: ErrorCode
):
    """T9: it would hold back the last stable offset forever."""
    talk.create_topic(topic)
    records = build_batch(
        [Record(0, TIMESTAMP_MS, b"k", b"v")],
        producer_id=5,
        producer_epoch=0,
        base_sequence=0,
        is_transactional=True,
    )

    refused = ask(talk, topic, records, transactional_id=transactional_id)

    assert refused.error_code == error
    assert data_of(talk.fetch({(topic, 0): 0}))[topic, 0].last_stable_offset == 0


def test_zstd_is_refused_from_clients_too_old_to_know_it(talk: Conversation, topic: str):
    """KIP-110."""
    talk.create_topic(topic)
    records = build_batch([Record(0, TIMESTAMP_MS, b"k", b"v")], compression=Compression.ZSTD)

    old, new = (ask(talk, topic, records, version=version) for version in (6, 7))

    assert old.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert (new.error_code, new.base_offset) == (ErrorCode.NONE, 0)


@pytest.mark.parametrize("acks", [2, -2])
def test_other_acks_than_three_are_refused(talk: Conversation, topic: str, acks: int):
    talk.create_topic(topic)

    refused = talk.produce(topic, batch(b"a"), acks=acks)

    assert refused.error_code == ErrorCode.INVALID_REQUIRED_ACKS


def test_unknown_partitions_and_internal_topics_are_refused(talk: Conversation, topic: str):
    talk.create_topic(topic)

    missing = talk.produce(topic, batch(b"a"), partition=5)
    internal = talk.produce("__consumer_offsets", batch(b"a"))

    assert missing.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert internal.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_a_batch_above_the_limit_of_the_topic_is_too_large(talk: Conversation, topic: str):
    talk.create_topic(topic, max_message_bytes="1000")

    refused = talk.produce(topic, batch(b"x" * 1000))

    assert refused.error_code == ErrorCode.MESSAGE_TOO_LARGE
    assert refused.base_offset == -1


def test_a_keyless_record_in_a_compacted_topic_is_named(talk: Conversation, topic: str):
    from kbroker.records import Record, build_batch

    talk.create_topic(topic, cleanup_policy="compact")
    records = [Record(0, 0, b"key", b"fine"), Record(1, 0, None, b"no key")]

    refused = talk.produce(topic, build_batch(records))

    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert [one.batch_index for one in refused.record_errors] == [1]


def no_answer(topic: str) -> ProduceRequest:
    data = PartitionProduceData(index=0, records=batch(b"a"))
    return ProduceRequest(
        acks=0, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, partition_data=[data])]
    )


def test_without_acks_there_is_no_answer(talk: Conversation, topic: str):
    talk.create_topic(topic)

    talk.connection.send(no_answer(topic), 9, answered=False)

    assert talk.produce(topic, batch(b"b")).base_offset == 1


def test_without_acks_an_error_closes_the_connection(running: Broker):
    with Conversation.with_broker(running).connection as connection:
        connection.send(no_answer("no-such-topic"), 9, answered=False)

        with pytest.raises(ClientError):
            connection.receive_frame()


def test_every_append_is_flushed_before_its_answer_if_the_topic_asks_for_it(
    talk: Conversation, topic: str
):
    """DESIGN: with flush.messages the flushed log end is what counts."""
    talk.create_topic(topic, flush_messages="1")

    answer = talk.produce(topic, batch(b"a"))

    assert answer.error_code == ErrorCode.NONE
    assert data_of(talk.fetch({(topic, 0): 0}))[topic, 0].high_watermark == 1


def test_what_no_flush_makes_safe_is_not_committed_in_time(talk: Conversation, topic: str):
    """The first of two messages waits for the second, which does not come."""
    talk.create_topic(topic, flush_messages="2")

    late = talk.produce(topic, batch(b"a"), timeout_ms=50)
    unseen = data_of(talk.fetch({(topic, 0): 0}))[topic, 0]
    second = talk.produce(topic, batch(b"b"))

    assert late.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert (unseen.high_watermark, unseen.records) == (0, b"")
    assert (second.error_code, second.base_offset) == (ErrorCode.NONE, 1)


def test_P2_a_duplicate_is_acknowledged_when_the_first_one_is_committed(talk: Conversation):
    """Nothing is flushed before the thousandth record, so nothing is committed (P10 too).

    The code says that it may have been written, which it has: the retry finds it.
    """
    talk.create_topic("slow", flush_messages="1000")
    first, again = (
        talk.produce("slow", batch(b"a", producer_id=70, sequence=0), timeout_ms=50)
        for _ in range(2)
    )
    assert first.error_code == again.error_code == ErrorCode.REQUEST_TIMED_OUT

    rest = [b"b"] * 999
    answer = talk.produce("slow", batch(*rest, producer_id=70, sequence=1))
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 1)
    answer = talk.produce("slow", batch(b"a", producer_id=70, sequence=0))
    assert (answer.error_code, answer.base_offset) == (ErrorCode.NONE, 0)
