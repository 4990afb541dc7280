"""A broker with three listeners: a plain one, one that encrypts, one that wants certificates."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tools.certificates import RSA, Authority

from compat_tests.broker_process import BrokerProcess
from compat_tests.brokers import CONFIGS
from kbroker.testing.process import free_port


@dataclass(frozen=True, slots=True)
class TlsBroker:
    """Where clients find each listener, and what they have to trust and to show."""

    plain: str
    encrypted: str
    mutual: str
    trusted: Path
    client: Path

    @property
    def java_trust(self) -> dict[str, str]:
        """What a client of Kafka's needs in its properties."""
        return {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.trusted),
        }

    @property
    def java_certificate(self) -> dict[str, str]:
        """The same, for a client that shows who it is."""
        return {
            **self.java_trust,
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.client),
        }


@pytest.fixture(scope="module")
def tls_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsBroker]:
    folder = tmp_path_factory.mktemp("certificates")
    authority = Authority(folder)
    plain, encrypted, mutual = (free_port() for _ in range(3))
    configs = {
        **CONFIGS,
        "listeners": (
            f"PLAINTEXT://127.0.0.1:{plain},SSL://127.0.0.1:{encrypted},MUTUAL://127.0.0.1:{mutual}"
        ),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL,MUTUAL:SSL",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(authority.issue("broker", key=RSA)),
        "listener.name.mutual.ssl.client.auth": "required",
        "listener.name.mutual.ssl.truststore.type": "PEM",
        "listener.name.mutual.ssl.truststore.location": str(authority.certificate),
    }
    client = authority.issue("client", subject="/O=Tests/CN=client")
    with BrokerProcess(tmp_path_factory.mktemp("broker"), configs=configs, port=plain) as process:
        yield TlsBroker(
            process.bootstrap,
            f"127.0.0.1:{encrypted}",
            f"127.0.0.1:{mutual}",
            authority.certificate,
            client,
        )
    assert "Traceback" not in process.stderr, process.stderr
