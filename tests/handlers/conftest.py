"""A broker for each test, and an administrator who speaks to it in plain requests."""

from collections.abc import Iterator

import pytest

from kbroker.testing import Broker
from tests.handlers.administrator import Administrator


@pytest.fixture
def admin(kbroker: Broker) -> Iterator[Administrator]:
    with Administrator(kbroker.host, kbroker.port) as administrator:
        yield administrator
