"""Metadata: topics asked for by what they cannot be named by.

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
