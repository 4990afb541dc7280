"""Metadata: topics asked for by what they cannot be named by, and topics that are not there yet.

What it answers to good questions, the tests of the broker and of the clients see all the time.
"""

import pytest

from kbroker.client.connection import Connection
from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)


@pytest.mark.parametrize(
    ("version", "topic_id"), [(10, Uuid(b"i" * 16)), (11, Uuid(b"i" * 16)), (12, ZERO_UUID)]
)
def test_a_topic_that_is_not_named_is_an_invalid_request(kbroker, version: int, topic_id: Uuid):
    """Ids came with version 12; versions 10 and 11 only have the field."""
    asked = MetadataRequestTopic(name=None, topic_id=topic_id)

    with Connection(kbroker.host, kbroker.port) as connection:
        answer = connection.ask(MetadataRequest(topics=[asked]), MetadataResponse, version=version)

    [topic] = answer.topics
    assert topic.error_code == ErrorCode.INVALID_REQUEST
    assert topic.topic_id == topic_id


@pytest.mark.parametrize("version", [1, 4, 12])
def test_a_topic_is_unknown_to_the_question_that_creates_it(kbroker, version: int):
    request = MetadataRequest(topics=[MetadataRequestTopic(name="t")])

    with Connection(kbroker.host, kbroker.port) as connection:
        answers = [connection.ask(request, MetadataResponse, version=version) for _ in "12"]

    topics = [topic for answer in answers for topic in answer.topics]
    assert [(topic.error_code, len(topic.partitions)) for topic in topics] == [
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0),
        (ErrorCode.NONE, 1),
    ]


def test_a_deleted_topic_is_gone_for_who_asks_after_it(admin):
    admin.must_create("t", 1)
    admin.delete("t")

    request = MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    [topic] = admin.ask(request, MetadataResponse, version=12).topics

    assert (topic.error_code, topic.partitions) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])
