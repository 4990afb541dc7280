"""One Spark session and one broker for all tests of the jobs, and records as the connector reads
them.

Jobs run as users run them, from their command lines, but in this process: a session takes fifteen
seconds to start and is shared.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from compat_tests.broker_process import BrokerProcess
from pyspark.sql import DataFrame, SparkSession

from spark_jobs.options import run_job
from spark_jobs.scene import Scene
from spark_jobs.small_session import small_session

_FOLDER = Path(__file__).parent
_TAIL_CHARACTERS = 6000

_SCHEMA = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, "
    "timestampType INT, headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
)

RecordFrame = Callable[..., DataFrame]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Called for all folders, so ours must be told apart."""
    for item in items:
        if _FOLDER in item.path.parents:
            item.add_marker(pytest.mark.spark)
            # An interrupted call leaves Python and Java at odds, so none is interrupted lightly.
            item.add_marker(pytest.mark.timeout(400))
            # Spark's workers, gateways and files belong to its Java half; Python only sees them go.
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """A running ``kbroker start``; it must stop in good order at the end."""
    configs = {
        # Expiry and compaction are looked for often enough to be waited for.
        "log.retention.check.interval.ms": "500",
        "log.cleaner.backoff.ms": "500",
        # Events of tests have old times, and stay unless a test says otherwise.
        "log.retention.ms": "-1",
        "group.initial.rebalance.delay.ms": "0",
    }
    with BrokerProcess(tmp_path_factory.mktemp("broker"), configs=configs) as process:
        yield process
    assert "Traceback" not in process.stderr, process.stderr


@pytest.fixture(scope="session")
def spark(
    broker: BrokerProcess, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    """The session of all tests. It ends before the broker does."""
    with small_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture
def bootstrap(broker: BrokerProcess) -> str:
    """The address for clients."""
    return broker.bootstrap


@pytest.fixture
def topic() -> str:
    """A name that no other test uses; nothing has that name yet."""
    return f"spark-{uuid4().hex[:12]}"


@pytest.fixture
def scene(bootstrap: str) -> Iterator[Scene]:
    """The shared broker's topics."""
    with Scene(bootstrap) as scene:
        yield scene


@pytest.fixture
def record_frame(spark: SparkSession) -> RecordFrame:
    """Makes a static frame of records; what is not given is counted up or empty."""

    def frame(*records: dict[str, Any]) -> DataFrame:
        rows = []
        for number, record in enumerate(records):
            headers = record.get("headers")
            rows.append(
                (
                    _bytes(record.get("key")),
                    _bytes(record.get("value")),
                    record.get("topic", "events"),
                    record.get("partition", 0),
                    record.get("offset", number),
                    record.get("timestamp", datetime(2026, 3, 1, 12, tzinfo=UTC)),
                    0,
                    headers and [(name, _bytes(value)) for name, value in headers],
                )
            )
        return spark.createDataFrame(rows, _SCHEMA)

    return frame


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Iterator[pytest.TestReport]:
    """Add the broker's last words to a failure."""
    report = yield
    process = getattr(item, "funcargs", {}).get("broker")
    if report.failed and isinstance(process, BrokerProcess):
        report.sections.append(("what the broker said", process.stderr[-_TAIL_CHARACTERS:]))
    return report


@pytest.fixture
def run_command() -> Callable[[str, list[str]], int]:
    """Runs a job on its command line, as the process would; gives the exit code."""

    def run(job: str, arguments: list[str]) -> int:
        module = import_module(f"spark_jobs.{job}.main")
        try:
            return run_job(job, lambda: module.run(arguments))
        except SystemExit as ended:
            return int(ended.code or 0)

    return run
