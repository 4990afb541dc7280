"""Groups of confluent-kafka: eager, cooperative, and of KIP-848."""

import sys
from collections.abc import Mapping

import pytest

from compat_tests.contract_groups import GroupsContract, MemberCommand, StaticMembersContract

KINDS = {
    "classic eager": ("--protocol", "classic", "--assignor", "range"),
    "classic cooperative": ("--protocol", "classic", "--assignor", "cooperative-sticky"),
    "consumer": ("--protocol", "consumer"),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def members(request: pytest.FixtureRequest, bootstrap: str) -> MemberCommand:
    def command(
        *, group: str, topic: str, session_timeout_ms: int, instance_id: str | None
    ) -> tuple[list[str], Mapping[str, str] | None]:
        words = [sys.executable, "-m", "compat_tests.confluent_kafka.member"]
        words += ["--bootstrap", bootstrap, "--group", group, "--topic", topic, *request.param]
        words += ["--session-timeout-ms", str(session_timeout_ms)]
        if instance_id is not None:
            words += ["--instance-id", instance_id]
        return words, None

    return command


class TestGroups(GroupsContract):
    pass


class TestStaticMembers(StaticMembersContract):
    pass
