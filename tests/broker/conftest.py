"""One broker for each test module here, and a conversation with it for each test."""

from collections.abc import Iterator

import pytest

from kbroker.testing import Broker
from tests.broker.conversation import Conversation


@pytest.fixture(scope="module")
def running() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def talk(running: Broker) -> Iterator[Conversation]:
    conversation = Conversation.with_broker(running)
    yield conversation
    conversation.connection.close()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses."""
    return request.node.name.replace("[", "-").replace("]", "")[:200]
