"""Apache Kafka and kbroker answer every step alike, but for what is explained."""

from pathlib import Path

import pytest

from compat_tests.differential.comparison import unexplained, unneeded
from compat_tests.differential.conftest import Compared
from compat_tests.differential.explained import EXPLAINED

FINDINGS = Path(__file__).parent / "FINDINGS.md"
# So many lines tell what is wrong; the rest is mostly the same again.
_SHOWN = 60


@pytest.mark.java
def test_every_difference_is_explained(compared: Compared) -> None:
    assert compared.steps > 1250
    rest = unexplained(compared.found, EXPLAINED)

    shown = "\n".join(map(str, rest[:_SHOWN]))
    assert not rest, f"{len(rest)} unexplained differences:\n{shown}"


@pytest.mark.java
def test_every_explanation_is_needed(compared: Compared) -> None:
    rest = unneeded(compared.found, EXPLAINED)

    assert not rest, "nothing differs here any more:\n" + "\n".join(map(str, rest))


def test_findings_has_a_section_for_every_reason() -> None:
    explained = FINDINGS.read_text().partition("## Explained")[2]
    sections = {line[4:] for line in explained.splitlines() if line.startswith("### ")}

    assert sections == {one.reason for one in EXPLAINED}
