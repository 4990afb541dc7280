"""One Spark session for this folder; its connector comes from Maven Central into ``.cache/ivy``."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from compat_tests.broker_process import BrokerProcess
from compat_tests.spark import CONNECTOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_FOLDER = Path(__file__).parent
_IVY = _FOLDER.parent.parent / ".cache" / "ivy"


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
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    warehouse = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]")
        .appName("kbroker")
        .config("spark.jars.packages", CONNECTOR)
        .config("spark.jars.ivy", str(_IVY))
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(warehouse))
        .getOrCreate()
    )
    gateway = session.sparkContext._gateway
    yield session
    session.stop()
    # Java ends when its input does; its producers must be gone before the broker is.
    gateway.shutdown()
    gateway.proc.stdin.close()
    assert gateway.proc.wait(30) == 0
