"""Groups of kafkajs, which speaks the classic protocol and knows no static members."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from compat_tests.contract_groups import GroupsContract, MemberCommand

PROGRAM = Path(__file__).parent / "member.js"
MODULES = Path(__file__).parents[2] / ".cache" / "kafkajs" / "node_modules"


@pytest.fixture
def members(bootstrap: str) -> MemberCommand:
    assert MODULES.exists(), f"{MODULES} is not there: run `make node`"

    def command(
        *, group: str, topic: str, session_timeout_ms: int, instance_id: str | None
    ) -> tuple[list[str], Mapping[str, str] | None]:
        words = ["node", str(PROGRAM), "--bootstrap", bootstrap, "--group", group]
        words += ["--topic", topic, "--session-timeout-ms", str(session_timeout_ms)]
        return words, {**os.environ, "NODE_PATH": str(MODULES)}

    return command


class TestGroups(GroupsContract):
    pass
