"""The broker that all tests of all clients share, and topics of one's own.

One process serves the whole run, as a broker of a company does: what one client leaves behind, the
next one has to live with. What the broker said is shown with every test that fails.
"""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from compat_tests.broker_process import BrokerProcess
from compat_tests.brokers import CONFIGS

# What scenarios believe is explained like the assertions of tests.
pytest.register_assert_rewrite("compat_tests.scenarios", "compat_tests.groups_on_stage")

_TAIL_CHARACTERS = 6000


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """A running ``kbroker start``; it must stop in good order at the end."""
    directory = tmp_path_factory.mktemp("broker")
    with BrokerProcess(directory, configs=CONFIGS) as process:
        yield process
    assert "Traceback" not in process.stderr, process.stderr


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--bootstrap`` lets a test be tried on another cluster, such as Apache Kafka."""
    parser.addoption(
        "--bootstrap", help="HOST:PORT of a cluster to use instead of a broker of ours"
    )


@pytest.fixture(scope="session")
def bootstrap(request: pytest.FixtureRequest) -> str:
    """The address for clients."""
    address: str | None = request.config.getoption("--bootstrap")
    if address is None:
        broker: BrokerProcess = request.getfixturevalue("broker")
        address = broker.bootstrap
    return address


@pytest.fixture
def topic() -> str:
    """A name that no other test uses; nothing has that name yet."""
    return f"compat-{uuid4().hex[:12]}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A file is run by one worker, unless its tests say better: Spark and JVMs start once."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.as_posix()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Add the broker's last words to a failure."""
    report = yield
    process = getattr(item, "funcargs", {}).get("broker")
    if report.failed and isinstance(process, BrokerProcess):
        report.sections.append(("what the broker said", process.stderr[-_TAIL_CHARACTERS:]))
    return report
