"""A real client behind a network that delivers requests late and twice.

What a proxy held back or copied in one transaction reaches the broker when the next one runs. With
version 2 of transactions it is refused there, and what is read is what the client was told.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.scenarios.frame_proxy import FrameProxy
from tests.scenarios.reading import read_values
from tools.apache_kafka import JARS, ApacheKafka, free_port

from compat_tests.broker_process import BrokerProcess
from compat_tests.contract_transactions import Transactor
from compat_tests.transactions.program import TransactorProgram
from kbroker.wire import ApiKey

# In version 2 the broker adds partitions itself, so there is no AddPartitionsToTxn to be late.
WATCHED = (ApiKey.PRODUCE, ApiKey.END_TXN)
ROUNDS = 4


@pytest.fixture
def proxy(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[FrameProxy]:
    """A proxy in front of a broker that gives the proxy's address for its own."""
    with FrameProxy() as proxy:
        advertised = {"advertised.listeners": f"PLAINTEXT://{proxy.bootstrap}"}
        if request.param == "kbroker":
            with BrokerProcess(tmp_path, configs=advertised) as broker:
                host, port = broker.bootstrap.split(":")
                proxy.connect_to(host, int(port))
                yield proxy
        else:
            port = free_port()
            proxy.connect_to("127.0.0.1", port)
            with ApacheKafka(port=port, heap="512m", properties=advertised):
                yield proxy


@pytest.mark.java
@pytest.mark.parametrize("proxy", ["kbroker"], indirect=True)
@pytest.mark.parametrize("is_held", [False, True], ids=["repeated", "held back"])
def test_what_is_late_changes_nothing(proxy: FrameProxy, is_held: bool, tmp_path: Path):
    """T1."""
    command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += ["-cp", f"{JARS}/*", str(Path(__file__).with_name("Transactor.java"))]
    program = TransactorProgram([*command, proxy.bootstrap], tmp_path / "java.txt")
    with closing(program):
        producer = program.transactor("late", timeout_ms=60_000)
        producer.begin()
        producer.send("written", ["first"])
        producer.commit()
        expected = ["first"]
        for number in range(ROUNDS):
            _transact(proxy, producer, number, is_held)
            expected.append(f"kept {number}")
            producer.begin()
            producer.send("written", [f"next {number}"])
            late = proxy.deliver()
            assert {api_key for api_key, _ in late} == set(WATCHED)
            if number % 2:
                producer.commit()
                expected.append(f"next {number}")
            else:
                producer.abort()

    assert read_values(proxy.bootstrap, "written") == expected
    everything = read_values(proxy.bootstrap, "written", committed=False)
    numbers = range(ROUNDS)
    pairs = [(f"kept {number}", f"next {number}") for number in numbers]
    assert everything == ["first", *(value for pair in pairs for value in pair)]


def _transact(proxy: FrameProxy, producer: Transactor, number: int, is_held: bool) -> None:
    """One transaction whose requests the proxy copies, or holds back for a while."""
    if is_held:
        proxy.hold(*WATCHED)
    else:
        proxy.keep(WATCHED)
    producer.begin()
    producer.send("written", [f"kept {number}"])
    producer.commit()
    proxy.keep(())
