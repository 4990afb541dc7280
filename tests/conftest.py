"""The clusters that tests of clients and commands run against, each started once if needed.

A test that asks for ``bootstrap`` runs once per entry of CLUSTERS, and must hold for all of them.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from tools.apache_kafka import ApacheKafka

from kbroker.testing import Broker


@contextmanager
def apache_kafka() -> Iterator[str]:
    with ApacheKafka(heap="512m") as kafka:
        yield kafka.bootstrap


@contextmanager
def kbroker() -> Iterator[str]:
    with Broker() as broker:
        yield broker.bootstrap


# A name for test ids, how to start one (it yields its address), and the marks of its tests.
CLUSTERS: list[tuple[str, Callable[[], AbstractContextManager[str]], list[pytest.MarkDecorator]]]
CLUSTERS = [("apache-kafka", apache_kafka, [pytest.mark.java]), ("kbroker", kbroker, [])]


@pytest.fixture(
    scope="session",
    params=[pytest.param(start, id=name, marks=marks) for name, start, marks in CLUSTERS],
)
def bootstrap(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a running cluster of one broker."""
    with request.param() as address:
        yield address
