"""Certificates for the tests of TLS, made once by the openssl command."""

import pytest
from tools.certificates import Authority


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """Whom both sides trust."""
    return Authority(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def stranger(tmp_path_factory):
    """Whom nobody trusts."""
    return Authority(tmp_path_factory.mktemp("certificates"), "stranger")


@pytest.fixture(scope="session")
def server_pem(authority):
    """The broker's key and certificate, in one file."""
    return authority.issue("server", subject="/CN=broker")
