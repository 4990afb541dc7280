"""One Spark session for this folder; its connector comes from Maven Central into ``.cache/ivy``."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.broker_process import BrokerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Called for all folders, so ours must be told apart."""
    for item in items:
        if _FOLDER in item.path.parents:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="package")
def spark(
    broker: BrokerProcess, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[SparkSession]":
    """A session with two cores and a small heap."""
    # Here and not above: the other folders can be run alone without PySpark.
    from spark_jobs.small_session import small_session

    with small_session(tmp_path_factory.mktemp("spark")) as session:
        yield session
