"""The clusters that tests of clients and commands run against, each started once if needed.

A test that asks for ``bootstrap`` runs once per entry of CLUSTERS, and must hold for all of them.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from tools.apache_kafka import ApacheKafka

from kbroker.testing import Broker


def pytest_configure() -> None:
    """Let processes that tests start be stopped by Ctrl-C, wherever the tests run.

    What a script runs in the background ignores SIGINT, and so would all that it starts.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
