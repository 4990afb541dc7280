"""Groups of franz-go (both protocols) and of Sarama (the classic one)."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from compat_tests.contract_groups import GroupsContract, MemberCommand, StaticMembersContract

BINARIES = Path(__file__).parents[2] / ".cache" / "go" / "bin"
FRANZ_CLASSIC = pytest.param(("franz_member", "cooperative-sticky"), id="franz-go classic")
FRANZ_CONSUMER = pytest.param(("franz_member", "consumer"), id="franz-go consumer")
SARAMA = pytest.param(("sarama_member", "range"), id="sarama")


@pytest.fixture
def members(request: pytest.FixtureRequest, bootstrap: str) -> MemberCommand:
    program, kind = request.param
    binary = BINARIES / program
    assert binary.exists(), f"{binary} is not built: run `make go`"

    def command(
        *, group: str, topic: str, session_timeout_ms: int, instance_id: str | None
    ) -> tuple[list[str], Mapping[str, str] | None]:
        words = [str(binary), "-bootstrap", bootstrap, "-group", group, "-topic", topic]
        words += ["-kind", kind, "-session-timeout-ms", str(session_timeout_ms)]
        if instance_id is not None:
            words += ["-instance-id", instance_id]
        return words, None

    return command


@pytest.mark.parametrize("members", [FRANZ_CLASSIC, FRANZ_CONSUMER, SARAMA], indirect=True)
class TestGroups(GroupsContract):
    pass


# Why franz-go's static members of consumer groups cannot come back is told in FINDINGS.md.
@pytest.mark.parametrize("members", [FRANZ_CLASSIC, SARAMA], indirect=True)
class TestStaticMembers(StaticMembersContract):
    pass
