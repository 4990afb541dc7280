"""The Spark session of every job, and which jars it needs.

The connector must have the version of Spark and be built for its Scala, so both are taken from the
installed PySpark. In a process started by Python the session loads the jars itself; `spark-submit`
has started Java before Python, and must be told:

    spark-submit --packages "$(python -m spark_jobs.session)" ...
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

_MODULES = ("spark-sql-kafka-0-10", "spark-avro")
_SCALA_LIBRARY = "scala-library-"
# What Spark 4 is built for, where its jars are not on this machine.
_SCALA = "2.13"


def packages() -> str:
    """The coordinates for ``--packages``, for the PySpark that is installed."""
    scala = _scala_version()
    return ",".join(
        f"org.apache.spark:{module}_{scala}:{pyspark.__version__}" for module in _MODULES
    )


def _scala_version() -> str:
    """Such as 2.13, from the name of the Scala library among Spark's jars.

    They lie beside PySpark, or in Spark's home: `spark-submit` takes PySpark from an archive.
    """
    homes = [Path(pyspark.__file__).parent, Path(os.environ.get("SPARK_HOME", ""))]
    for library in (found for home in homes for found in home.glob(f"jars/{_SCALA_LIBRARY}*.jar")):
        major, minor, *_ = library.stem.removeprefix(_SCALA_LIBRARY).split(".")
        return f"{major}.{minor}"
    return _SCALA


def build_session(name: str, configs: Mapping[str, str] | None = None) -> SparkSession:
    """The session of this process, made if there is none.

    The master is whatever `spark-submit` or Spark's own configuration says, and all cores of this
    machine without either.
    """
    # Workers, if a plan ever needs one, run the Python that runs us.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(name).config("spark.jars.packages", packages())
    # Dates and hours in paths and reports mean the same on every machine.
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    # Jobs print their progress; a bar drawn over it helps nobody.
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    for key, value in (configs or {}).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


if __name__ == "__main__":
    print(packages())
