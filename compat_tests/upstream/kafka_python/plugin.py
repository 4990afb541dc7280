"""Lets kafka-python's tests run from its source distribution, which has only a part of them.

They say ``from test.integration...``, but the distribution lacks the file that makes ``test`` a
package (Python's own package of this name would be found), and ``test.service``, which starts
brokers. Both are put in place here; the tests themselves stay as they were distributed.
``KAFKA_PYTHON_TESTS`` says where they are.
"""

import os
import sys
from types import ModuleType


class ExternalService:
    """A broker that runs already: nothing is started and nothing stopped."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    def open(self) -> None:
        """It is."""

    def close(self) -> None:
        """Who started it will."""


class SpawnedService:
    """A broker to be started, which the tests do not do when they are given one."""

    def __init__(self, *arguments: object) -> None:
        raise AssertionError("the broker is given by KAFKA_URI")


_package = ModuleType("test")
_package.__path__ = [os.environ["KAFKA_PYTHON_TESTS"]]
_service = ModuleType("test.service")
_service.ExternalService = ExternalService  # type: ignore[attr-defined]
_service.SpawnedService = SpawnedService  # type: ignore[attr-defined]
sys.modules["test"] = _package
sys.modules["test.service"] = _service
