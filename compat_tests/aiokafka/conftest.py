"""The client that tests of its own are run with."""

import pytest

from compat_tests.aiokafka.adapter import AiokafkaAdmin, AiokafkaClient


@pytest.fixture
def client(bootstrap: str) -> AiokafkaClient:
    return AiokafkaClient(bootstrap)


@pytest.fixture
def admin(bootstrap: str) -> AiokafkaAdmin:
    return AiokafkaAdmin(bootstrap)
