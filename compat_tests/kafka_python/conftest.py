"""The client that tests of its own are run with."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from kafka.admin import KafkaAdminClient

from compat_tests.kafka_python.adapter import KafkaPythonAdmin
from compat_tests.kafka_python.records import KafkaPythonClient


@pytest.fixture
def client(bootstrap: str) -> KafkaPythonClient:
    return KafkaPythonClient(bootstrap)


@pytest.fixture
def admin(bootstrap: str) -> Iterator[KafkaPythonAdmin]:
    with closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin:
        yield KafkaPythonAdmin(admin)
