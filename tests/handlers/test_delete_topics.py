import pytest

from kbroker.model import ZERO_UUID, Uuid
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from tests.handlers.administrator import Administrator

NONE = (ErrorCode.NONE, None)
NO_ID = Uuid(b"0123456789abcdef")


def test_a_deleted_topic_is_gone_when_the_answer_comes(admin):
    admin.must_create("t", 3)

    assert admin.delete("t") == {"t": NONE}
    assert admin.partitions_of("t") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_answer_to_a_name_has_the_id_and_the_answer_to_an_id_has_the_name(admin):
    by_name, by_id = admin.must_create("n"), admin.must_create("i")
    states = [DeleteTopicState(name="n"), DeleteTopicState(name=None, topic_id=by_id)]

    request = DeleteTopicsRequest(topics=states, timeout_ms=30_000)
    answer = admin.ask(request, DeleteTopicsResponse, version=6)

    assert {(one.name, one.topic_id, one.error_code) for one in answer.responses} == {
        ("n", by_name, 0),
        ("i", by_id, 0),
    }


@pytest.mark.parametrize("version", [v for v in DeleteTopicsRequest.versions if v < 6])
def test_every_older_version_deletes_by_name(admin, version):
    admin.must_create("t")

    request = DeleteTopicsRequest(topic_names=["t", "nope"], timeout_ms=30_000)
    answer = admin.ask(request, DeleteTopicsResponse, version=version)

    assert {one.name: one.error_code for one in answer.responses} == {
        "t": 0,
        "nope": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert admin.partitions_of("t") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_made_anew_under_its_name_has_another_id(admin):
    first = admin.must_create("t", 2)
    admin.delete("t")
    second = admin.must_create("t", 1)

    assert first != second
    assert admin.partitions_of("t") == 1
    assert admin.delete(first)[first][0] is ErrorCode.UNKNOWN_TOPIC_ID


def test_what_does_not_exist_cannot_be_deleted(admin):
    answers = admin.delete("nope", "bad/", NO_ID)

    assert answers["nope"][0] is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert answers["bad/"][0] is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert answers[NO_ID] == (
        ErrorCode.UNKNOWN_TOPIC_ID,
        "This server does not host this topic ID.",
    )


def test_a_topic_named_twice_stays(admin):
    topic_id = admin.must_create("t")

    assert admin.delete("t", "t") == {"t": (ErrorCode.INVALID_REQUEST, "Duplicate topic name.")}
    assert admin.delete(topic_id, topic_id) == {
        topic_id: (ErrorCode.INVALID_REQUEST, "Duplicate topic id.")
    }
    assert admin.delete("t", topic_id)["t"][0] is ErrorCode.INVALID_REQUEST
    assert admin.partitions_of("t") == 1


def test_a_topic_is_named_by_either_name_or_id(admin):
    topic_id = admin.must_create("t")

    both = admin.delete(DeleteTopicState(name="t", topic_id=topic_id))
    neither = admin.delete(DeleteTopicState(name=None, topic_id=ZERO_UUID))

    assert both["t"][0] is ErrorCode.INVALID_REQUEST
    assert neither[ZERO_UUID][0] is ErrorCode.INVALID_REQUEST
    assert admin.partitions_of("t") == 1


def test_without_time_nothing_is_deleted(admin):
    admin.must_create("t")

    answers = admin.delete("t", "nope", timeout_ms=0)

    assert {error for error, _ in answers.values()} == {ErrorCode.REQUEST_TIMED_OUT}
    assert admin.partitions_of("t") == 1


def test_deletion_can_be_disabled():
    with (
        Broker(configs={"delete.topic.enable": "false"}) as broker,
        Administrator(broker.host, broker.port) as admin,
    ):
        admin.must_create("t")

        assert admin.delete("t", timeout_ms=0)["t"][0] is ErrorCode.TOPIC_DELETION_DISABLED
        # KIP-322: older clients do not know that error.
        request = DeleteTopicsRequest(topic_names=["t"], timeout_ms=30_000)
        answer = admin.ask(request, DeleteTopicsResponse, version=2)
        assert answer.responses[0].error_code == ErrorCode.INVALID_REQUEST
        assert admin.partitions_of("t") == 1


def test_internal_topics_can_be_deleted_too(admin):
    admin.must_create("__consumer_offsets")

    assert admin.delete("__consumer_offsets") == {"__consumer_offsets": NONE}
