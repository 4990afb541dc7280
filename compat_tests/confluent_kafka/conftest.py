"""The client that tests of its own are run with."""

import pytest

from compat_tests.confluent_kafka.adapter import ConfluentAdmin, ConfluentClient


@pytest.fixture
def client(bootstrap: str) -> ConfluentClient:
    return ConfluentClient(bootstrap)


@pytest.fixture
def admin(bootstrap: str) -> ConfluentAdmin:
    return ConfluentAdmin(bootstrap)
