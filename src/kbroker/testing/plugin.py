"""The pytest fixture ``kbroker``: a running broker for one test.

def test_my_pipeline(kbroker):
    producer = Producer({"bootstrap.servers": kbroker.bootstrap})
"""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kbroker.testing.broker import Broker


@pytest.fixture
def kbroker() -> "Iterator[Broker]":
    """A broker that nobody else uses; its data is gone afterwards."""
    from kbroker.testing.broker import Broker

    with Broker() as broker:
        yield broker
