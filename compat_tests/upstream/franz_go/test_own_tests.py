"""franz-go's own tests of its client.

The heart of them are chains of groups, and of transactions, through which every record must come
exactly once, while members join and leave. They take how many records they move from the
environment; a fraction of franz-go's half a million is enough to find what is broken.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from compat_tests.broker_process import BrokerProcess
from compat_tests.upstream.suite import Outcome, PassingList, whole_suites

_HERE = Path(__file__).parent
_PROGRAM = _HERE.parents[2] / ".cache" / "go" / "bin" / "kgo.test"
_PASSING = PassingList.read(_HERE / "passing.txt")
_RECORDS = {"quick": 10_000, "all": 50_000}
_TIMEOUT_S = {"quick": 250, "all": 1200}
# Top-level tests: ``--- PASS: TestPing (0.02s)``.
_RESULT = re.compile(r"^--- (PASS|FAIL|SKIP): (\w+)", re.MULTILINE)
_WORDS = {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """A broker with the defaults, but that groups do not wait for their first members."""
    configs = {"group.initial.rebalance.delay.ms": "0"}
    with BrokerProcess(tmp_path_factory.mktemp("broker"), configs=configs) as process:
        yield process
    assert "Traceback" not in process.stderr, process.stderr


@pytest.mark.timeout(_TIMEOUT_S["all"] + 60)
def test_what_passed_before_passes(broker: BrokerProcess, newly_passing: list[str]) -> None:
    everything = whole_suites()
    expected = _PASSING.tests if everything else _PASSING.quick

    outcome = _run(broker, None if everything else sorted(expected))

    newly_passing.extend(f"franz-go {one}" for one in outcome.newly_passing(_PASSING.tests))
    missing = outcome.missing(expected)
    assert not missing, "\n".join([*missing, outcome.output[-20_000:]])


def _run(broker: BrokerProcess, only: Sequence[str] | None) -> Outcome:
    """Run the tests named ``only``, or all of them."""
    assert _PROGRAM.exists(), f"franz-go's tests are not built into {_PROGRAM}: run `make go`"
    amount = "all" if only is None else "quick"
    names = "." if only is None else f"^({'|'.join(only)})$"
    environment = {
        **os.environ,
        "KGO_SEEDS": broker.bootstrap,
        "KGO_TEST_RF": "1",
        "KGO_TEST_RECORDS": str(_RECORDS[amount]),
    }
    ended = subprocess.run(
        [str(_PROGRAM), "-test.v", f"-test.timeout={_TIMEOUT_S[amount]}s", "-test.run", names],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_TIMEOUT_S[amount] + 30,
        check=False,
    )
    output = ended.stdout.decode(errors="replace")
    results = {name: _WORDS[word] for word, name in _RESULT.findall(output)}
    return Outcome(results, output)
