"""Groups of aiokafka, which speaks the classic protocol."""

import sys
from collections.abc import Mapping

import pytest

from compat_tests.contract_groups import GroupsContract, MemberCommand, StaticMembersContract


@pytest.fixture
def members(bootstrap: str) -> MemberCommand:
    def command(
        *, group: str, topic: str, session_timeout_ms: int, instance_id: str | None
    ) -> tuple[list[str], Mapping[str, str] | None]:
        words = [sys.executable, "-m", "compat_tests.aiokafka.member"]
        words += ["--bootstrap", bootstrap, "--group", group, "--topic", topic]
        words += ["--session-timeout-ms", str(session_timeout_ms)]
        if instance_id is not None:
            words += ["--instance-id", instance_id]
        return words, None

    return command


class TestGroups(GroupsContract):
    pass


class TestStaticMembers(StaticMembersContract):
    pass
