"""The contract of transactions, with every client that has them."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tools.apache_kafka import JARS

from compat_tests.client import Sent
from compat_tests.confluent_kafka.adapter import ConfluentAdmin, ConfluentClient
from compat_tests.contract_transactions import TransactionalClient, TransactionsContract
from compat_tests.transactions.aio import AiokafkaTransactions
from compat_tests.transactions.confluent import ConfluentTransactions
from compat_tests.transactions.kafka_python import KafkaPythonTransactions
from compat_tests.transactions.program import TransactorProgram

FRANZ = Path(__file__).parents[2] / ".cache" / "go" / "bin" / "franz_transactor"
# 3.9 speaks version 1 of transactions: partitions are announced, epochs stay.
JAVA_VERSIONS = {
    "4.4.0": JARS.parent / "clients-4.4.0",
    "4.3.1": JARS,
    "3.9.2": JARS.parent / "clients-3.9.2",
}


@pytest.fixture
def plain(bootstrap: str) -> Callable[..., None]:
    """Writes one record without a transaction."""
    client = ConfluentClient(bootstrap)

    def write(topic: str, value: str, partition: int = 0) -> None:
        client.produce(topic, [Sent(value.encode(), partition=partition)])

    return write


@pytest.fixture
def admin(bootstrap: str) -> ConfluentAdmin:
    return ConfluentAdmin(bootstrap)


class TestConfluent(TransactionsContract):
    @pytest.fixture
    def transactional(self, bootstrap: str) -> TransactionalClient:
        return ConfluentTransactions(bootstrap)


class TestAiokafka(TransactionsContract):
    @pytest.fixture
    def transactional(self, bootstrap: str) -> Iterator[TransactionalClient]:
        with closing(AiokafkaTransactions(bootstrap)) as client:
            yield client


class TestKafkaPython(TransactionsContract):
    @pytest.fixture
    def transactional(self, bootstrap: str) -> Iterator[TransactionalClient]:
        with closing(KafkaPythonTransactions(bootstrap)) as client:
            yield client


class TestFranzGo(TransactionsContract):
    @pytest.fixture
    def transactional(self, bootstrap: str, tmp_path: Path) -> Iterator[TransactionalClient]:
        assert FRANZ.exists(), f"{FRANZ} is not built: run `make go`"
        with closing(TransactorProgram([str(FRANZ), bootstrap], tmp_path / "stderr.txt")) as client:
            yield client


@pytest.fixture(scope="module", params=JAVA_VERSIONS)
def java(
    request: pytest.FixtureRequest, bootstrap: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TransactionalClient]:
    """One JVM for all tests of a version: each would take a second to start."""
    folder = JAVA_VERSIONS[request.param]
    assert any(folder.glob("kafka-clients-*.jar")), f"no clients in {folder}: run `make java`"
    command = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += ["-cp", f"{folder}/*", str(Path(__file__).with_name("Transactor.java")), bootstrap]
    stderr_file = tmp_path_factory.mktemp("java") / "stderr.txt"
    with closing(TransactorProgram(command, stderr_file)) as client:
        yield client


class TestJava(TransactionsContract):
    @pytest.fixture
    def transactional(self, java: TransactionalClient) -> TransactionalClient:
        return java
