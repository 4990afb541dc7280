"""A broker for each suite, and a place to tell at the end which tests have begun to pass."""

import pytest

# Filled by the tests, shown in the summary of the run.
newly_passing_key = pytest.StashKey[list[str]]()


@pytest.fixture
def newly_passing(request: pytest.FixtureRequest) -> list[str]:
    """Add here what passes and is on no list."""
    return request.config.stash.setdefault(newly_passing_key, [])


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what can be added to the lists."""
    lines = config.stash.get(newly_passing_key, [])
    if lines:
        terminalreporter.section("upstream tests that pass and are not listed")
        for line in lines:
            terminalreporter.line(line)
