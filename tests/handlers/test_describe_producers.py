from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from tests.handlers.writing import write_one


def described(admin, *topics):
    request = DescribeProducersRequest(
        topics=[
            TopicRequest(name=name, partition_indexes=list(indexes)) for name, indexes in topics
        ]
    )
    answer = admin.ask(request, DescribeProducersResponse)
    return {
        (topic.name, one.partition_index): one
        for topic in answer.topics
        for one in topic.partitions
    }


def test_producers_are_described_where_they_write(admin):
    admin.must_create("t", 2)
    write_one(admin, "t", 0, producer_id=17, producer_epoch=3, timestamp_ms=1_700_000_000_000)

    answers = described(admin, ("t", [0, 1]))

    (producer,) = answers["t", 0].active_producers
    assert (producer.producer_id, producer.producer_epoch) == (17, 3)
    assert (producer.last_sequence, producer.last_timestamp) == (0, 1_700_000_000_000)
    assert (producer.coordinator_epoch, producer.current_txn_start_offset) == (-1, -1)
    assert answers["t", 1].active_producers == []
    assert {one.error_code for one in answers.values()} == {0}


def test_who_writes_without_an_id_leaves_no_trace(admin):
    admin.must_create("t")
    write_one(admin, "t", 0)

    assert described(admin, ("t", [0]))["t", 0].active_producers == []


def test_what_does_not_exist_is_an_error_of_the_partition(admin):
    admin.must_create("t")

    answers = described(admin, ("t", [9]), ("nope", [0, 1]), ("bad/", [0]))

    assert {key: ErrorCode(one.error_code) for key, one in answers.items()} == {
        ("t", 9): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("nope", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("nope", 1): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("bad/", 0): ErrorCode.INVALID_TOPIC_EXCEPTION,
    }
    assert "alphanumerics" in answers["bad/", 0].error_message
