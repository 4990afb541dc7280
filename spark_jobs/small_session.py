"""A session with two cores and a small heap in this process: for tests and measurements.

Jars come from Maven Central once and stay in ``.cache/ivy``; run as a program this module loads
them, and nothing else.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from spark_jobs.session import build_session

_IVY = Path(__file__).parent.parent / ".cache" / "ivy"
_END_TIMEOUT_S = 30.0
_QUICK_START = {
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.codegen.wholeStage": "false",
}


@contextmanager
def small_session(
    warehouse: Path, *, memory: str = "1g", quick_start: bool = True
) -> Iterator[SparkSession]:
    """The session, with its Java process gone at the end.

    It plans many small queries quickly; ``quick_start`` is not for long ones, nor measurements.
    Java ends when its input does; its producers must be gone before their broker is.
    """
    session = build_session(
        "kbroker",
        {
            "spark.master": "local[2]",
            "spark.jars.ivy": str(_IVY),
            "spark.driver.memory": memory,
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(warehouse),
            **(_QUICK_START if quick_start else {}),
        },
    )
    gateway = session.sparkContext._gateway
    try:
        yield session
    finally:
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        code = gateway.proc.wait(_END_TIMEOUT_S)
    assert code == 0, f"Spark's Java process ended with {code}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, small_session(Path(folder)):
        pass
