"""Every test of this folder needs Java."""

from pathlib import Path

import pytest

from compat_tests.java_tools.tool import TOPICS, Tools

_FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Called for all folders, so ours must be told apart."""
    for item in items:
        if _FOLDER in item.path.parents:
            item.add_marker(pytest.mark.java)


@pytest.fixture
def tools(bootstrap: str) -> Tools:
    return Tools(bootstrap)


@pytest.fixture
def three_partitions(tools: Tools, topic: str) -> str:
    """A topic that exists."""
    tools.run(TOPICS, "--create", "--topic", topic, "--partitions", "3")
    return topic
