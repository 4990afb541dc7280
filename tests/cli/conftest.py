"""The command against a cluster, and names for topics of one's own."""

from uuid import uuid4

import pytest

from tests.cli.command import Kbroker


@pytest.fixture
def kbroker(bootstrap: str) -> Kbroker:
    return Kbroker(bootstrap)


@pytest.fixture
def name() -> str:
    """A name that no other test uses."""
    return f"cli-{uuid4().hex[:12]}"


@pytest.fixture
def topic(kbroker: Kbroker, name: str) -> str:
    """A topic with one partition."""
    kbroker.done("topics", "create", name, "--partitions", "1")
    return name
