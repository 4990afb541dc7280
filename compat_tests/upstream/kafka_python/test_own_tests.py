"""kafka-python's own integration tests."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from compat_tests.broker_process import BrokerProcess
from compat_tests.upstream.suite import Outcome, PassingList, whole_suites
from kbroker.testing.process import free_port

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[2]
_TESTS = _ROOT / ".cache" / "upstream" / "kafka_python" / "test"
_PASSING = PassingList.read(_HERE / "passing.txt")
_PLUGIN = "compat_tests.upstream.kafka_python.plugin"
# They wait more than they work, so that many can at once.
_AT_ONCE = 6
_TIMEOUT_S = {"quick": 280, "all": 1200}
# Below these the tests take for granted that they started the broker, with TLS or SASL.
_OWN_BROKER = ("test_sasl_integration.py", "test_ssl_integration.py")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """As kafka-python's own brokers are configured: the number 0, and topics of four partitions."""
    port = free_port()
    configs = {
        "node.id": "0",
        "num.partitions": "4",
        "group.initial.rebalance.delay.ms": "0",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
    }
    directory = tmp_path_factory.mktemp("broker")
    with BrokerProcess(directory, configs=configs, port=port) as process:
        yield process
    assert "Traceback" not in process.stderr, process.stderr


@pytest.mark.timeout(_TIMEOUT_S["all"] + 60)
def test_what_passed_before_passes(
    broker: BrokerProcess, tmp_path: Path, newly_passing: list[str]
) -> None:
    everything = whole_suites()
    expected = _PASSING.tests if everything else _PASSING.quick

    outcome = _run(broker, tmp_path, None if everything else sorted(expected))

    newly_passing.extend(f"kafka-python {one}" for one in outcome.newly_passing(_PASSING.tests))
    missing = outcome.missing(expected)
    assert not missing, "\n".join([*missing, outcome.output[-20_000:]])


def _run(broker: BrokerProcess, directory: Path, only: Sequence[str] | None) -> Outcome:
    """Run the tests named ``only``, or all of them."""
    assert _TESTS.is_dir(), f"kafka-python's tests are not in {_TESTS}: run `make upstream`"
    report = directory / "report.xml"
    integration = _TESTS / "integration"
    command = [sys.executable, "-m", "pytest", "-p", _PLUGIN, "-p", "no:randomly"]
    # Their settings are not ours: a warning of theirs is no failure here.
    command += ["-c", os.devnull, "--rootdir", str(_TESTS), "-W", "ignore"]
    command += ["-n", str(_AT_ONCE), "--timeout=120", f"--junitxml={report}", "--tb=short"]
    if only is None:
        command += [str(integration)]
        command += [f"--ignore={integration / name}" for name in _OWN_BROKER]
    else:
        command += [str(integration / name) for name in only]
    environment = {
        **os.environ,
        "PYTHONPATH": str(_ROOT),
        "KAFKA_PYTHON_TESTS": str(_TESTS),
        "KAFKA_URI": f"kafka://{broker.bootstrap}",
        # What the broker is to be taken for, and where its scripts are, which nobody calls.
        "KAFKA_VERSION": "4.3.0",
        "KAFKA_ROOT": str(directory),
    }
    ended = subprocess.run(
        command,
        env=environment,
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_TIMEOUT_S["all" if only is None else "quick"],
        check=False,
    )
    output = ended.stdout.decode(errors="replace")
    assert report.exists(), output[-20_000:]
    return Outcome(dict(_results(report)), output)


def _results(report: Path) -> Iterator[tuple[str, str]]:
    """Each test of a report by the name of its file and its own."""
    for case in ET.parse(report).iter("testcase"):
        file = case.get("classname", "").rpartition(".")[2]
        name = f"{file}.py::{case.get('name')}"
        bad = [kind for kind in ("failure", "error", "skipped") if case.find(kind) is not None]
        yield name, bad[0] if bad else "passed"
