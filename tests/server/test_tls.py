"""From Kafka's configs to an SSLContext, and to one line where that is impossible."""

import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from tools.certificates import RSA

from kbroker.config import BrokerConfig
from kbroker.server.tls import TlsConfigError, distinguished_name, tls_context

KBROKER = Path(sys.executable).parent / "kbroker"
NEWER = "TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256,TLS_AES_128_GCM_SHA256"
PEM_TYPES = {"ssl.keystore.type": "PEM", "ssl.truststore.type": "PEM"}


def context_of(configs, listener="EXTERNAL"):
    texts = {
        "listeners": "EXTERNAL://127.0.0.1:0,INTERNAL://127.0.0.1:0",
        "listener.security.protocol.map": "EXTERNAL:SSL,INTERNAL:SSL",
        **PEM_TYPES,
        **{name.replace("_", "."): str(value) for name, value in configs.items()},
    }
    return tls_context(BrokerConfig.of(texts), listener)


def key_and_chain(pem):
    """The two halves of a PEM file."""
    text = pem.read_text()
    cut = text.index("-----BEGIN CERTIFICATE")
    return text[:cut], text[cut:]


def test_a_file_with_key_and_certificate_does(server_pem):
    context = context_of({"ssl.keystore.location": server_pem})
    assert context.verify_mode is ssl.CERT_NONE
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.maximum_version is ssl.TLSVersion.TLSv1_3
    assert context.options & ssl.OP_NO_RENEGOTIATION


@pytest.mark.parametrize("between_lines", ["\n", " ", ""])
def test_pem_text_in_the_configs_does_whatever_became_of_its_lines(server_pem, between_lines):
    key, chain = (text.replace("\n", between_lines) for text in key_and_chain(server_pem))
    context_of({"ssl.keystore.key": key, "ssl.keystore.certificate.chain": chain})


def test_an_encrypted_key_needs_its_password(authority):
    pem = authority.issue("encrypted", password="open sesame")
    key, chain = key_and_chain(pem)
    inline = {"ssl.keystore.key": key, "ssl.keystore.certificate.chain": chain}
    for keystore in {"ssl.keystore.location": pem}, inline:
        context_of({**keystore, "ssl.key.password": "open sesame"})
        for wrong in {}, {"ssl.key.password": "sesame seeds"}, {"ssl.key.password": "x" * 2000}:
            with pytest.raises(TlsConfigError) as told:
                context_of({**keystore, **wrong})
            assert "sesame" not in str(told.value)
            assert "\n" not in str(told.value)


def test_a_listener_has_configs_of_its_own(server_pem, authority):
    configs = {
        "ssl.keystore.location": server_pem,
        "listener.name.internal.ssl.client.auth": "required",
        "listener.name.internal.ssl.truststore.location": authority.certificate,
        "listener.name.internal.ssl.enabled.protocols": "TLSv1.3",
    }
    external, internal = context_of(configs), context_of(configs, "INTERNAL")
    assert (external.verify_mode, internal.verify_mode) == (ssl.CERT_NONE, ssl.CERT_REQUIRED)
    assert internal.minimum_version is ssl.TLSVersion.TLSv1_3


def test_trusted_certificates_may_be_text_too(server_pem, authority):
    context = context_of(
        {
            "ssl.keystore.location": server_pem,
            "ssl.client.auth": "requested",
            "ssl.truststore.certificates": authority.certificate.read_text().replace("\n", " "),
        }
    )
    assert context.verify_mode is ssl.CERT_OPTIONAL
    assert len(context.get_ca_certs()) == 1


def test_suites_go_by_the_names_of_java(authority):
    pem = authority.issue("rsa", key=RSA)
    older = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"
    cbc = "TLS_RSA_WITH_AES_256_CBC_SHA256"
    configs = {"ssl.keystore.location": pem, "ssl.cipher.suites": f"{older},{cbc}"}
    context = context_of(configs)
    names = {suite["name"] for suite in context.get_ciphers() if suite["protocol"] != "TLSv1.3"}
    assert names == {
        "ECDHE-RSA-AES128-GCM-SHA256",
        "ECDHE-RSA-CHACHA20-POLY1305",
        "AES256-SHA256",
    }
    # None of TLS 1.3 is named, so TLS 1.3 is not offered.
    assert context.maximum_version is ssl.TLSVersion.TLSv1_2
    assert context_of({**configs, "ssl.cipher.suites": NEWER}).minimum_version.name == "TLSv1_3"
    both = context_of({**configs, "ssl.cipher.suites": f"{NEWER},{older}"})
    assert (both.minimum_version.name, both.maximum_version.name) == ("TLSv1_2", "TLSv1_3")


@pytest.mark.parametrize(
    ("configs", "words"),
    [
        ({}, "TLS needs a key"),
        ({"ssl.keystore.location": "/nowhere/key.pem"}, "/nowhere/key.pem: No such file"),
        ({"ssl.keystore.location": "/"}, "ssl.keystore.location: cannot read /: Is a directory"),
        ({"ssl.keystore.location": "PEM", "ssl.keystore.type": "JKS"}, "type=JKS: only PEM"),
        ({"ssl.keystore.location": "PEM", "ssl.keystore.type": "PKCS12"}, "convert the store"),
        ({"ssl.keystore.location": "PEM", "ssl.keystore.password": "p"}, "PEM has none"),
        ({"ssl.keystore.location": "PEM", "ssl.keystore.key": "k"}, "exclude each other"),
        ({"ssl.keystore.key": "k"}, "go together"),
        (
            {"ssl.keystore.key": "k", "ssl.keystore.certificate.chain": "c"},
            "ssl.keystore.key holds no PEM",
        ),
        ({"ssl.keystore.location": "CA"}, "ssl.keystore.location"),
        ({"ssl.keystore.location": "PEM", "ssl.truststore.location": "/nowhere"}, "/nowhere: No"),
        ({"ssl.keystore.location": "PEM", "ssl.truststore.location": __file__}, "truststore"),
        ({"ssl.keystore.location": "PEM", "ssl.client.auth": "required"}, "needs ssl.truststore"),
        ({"ssl.keystore.location": "PEM", "ssl.enabled.protocols": "TLSv1.1"}, "TLSv1.1 is not"),
        ({"ssl.keystore.location": "PEM", "ssl.cipher.suites": "TLS_OF_MINE"}, "TLS_OF_MINE is"),
        ({"ssl.keystore.location": "PEM", "ssl.cipher.suites": "ALL"}, "ALL is not known"),
        (
            {"ssl.keystore.location": "PEM", "ssl.cipher.suites": "TLS_AES_128_GCM_SHA256"},
            "all together",
        ),
        (
            {
                "ssl.keystore.location": "PEM",
                "ssl.cipher.suites": NEWER,
                "ssl.enabled.protocols": "TLSv1.2",
            },
            "leave no TLS version",
        ),
    ],
)
def test_what_is_wrong_is_told_in_one_line(server_pem, authority, configs, words):
    files = {"PEM": str(server_pem), "CA": str(authority.certificate)}
    with pytest.raises(TlsConfigError) as told:
        context_of({name: files.get(value, value) for name, value in configs.items()})
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_a_key_of_another_certificate_is_refused(authority, server_pem):
    key, _ = key_and_chain(authority.issue("other"))
    _, chain = key_and_chain(server_pem)
    with pytest.raises(TlsConfigError, match=r"ssl\.keystore\.key: key values mismatch"):
        context_of({"ssl.keystore.key": key, "ssl.keystore.certificate.chain": chain})


@pytest.mark.parametrize(
    ("listeners", "words"),
    [
        ("SSL://127.0.0.1:0", "kbroker: listener SSL: ssl.keystore.location: cannot read"),
        ("SASL_SSL://127.0.0.1:0", "kbroker: listener SASL_SSL: SASL_SSL is not supported yet"),
    ],
)
def test_a_start_that_cannot_encrypt_ends_with_2_and_one_line(tmp_path, listeners, words):
    command = [KBROKER, "start", "--data-dir", tmp_path, "--set", f"listeners={listeners}"]
    command += ["--set", "ssl.keystore.type=PEM", "--set", "ssl.keystore.location=/nowhere/k.pem"]
    command += ["--set", "ssl.key.password=very secret"]
    result = subprocess.run(command, capture_output=True, timeout=60, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(words)
    assert result.stderr.count("\n") == 1
    assert "very secret" not in result.stderr


def test_names_in_certificates_are_written_as_kafka_writes_them():
    subject = (
        (("countryName", "DE"),),
        (("organizationName", "Wagner, Söhne + Co"),),
        (("organizationalUnitName", "#1 "), ("userId", "u<1>")),
        (("commonName", ' a "b" \\ c;'),),
    )
    assert distinguished_name(subject) == (
        r"CN=\ a \"b\" \\ c\;,OU=\#1\ +UID=u\<1\>,O=Wagner\, Söhne \+ Co,C=DE"
    )
