"""Kafka Streams, Kafka Connect, MirrorMaker 2 and kafka-console against kbroker.

pytest compat_tests/test_tools.py -k Connect
"""

from pathlib import Path

import pytest

from compat_tests.tool_checks import CHECKS, ToolCheck


@pytest.mark.java
@pytest.mark.timeout(300)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.tool} {check.name}")
def test_a_tool_works_unmodified(check: ToolCheck, bootstrap: str, tmp_path: Path):
    check.run(bootstrap, tmp_path)
