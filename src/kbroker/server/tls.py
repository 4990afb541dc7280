"""What a TLS listener needs, from Kafka's configs: an `ssl.SSLContext`, made once at the start.

Keys and certificates are PEM, as files or as text in the configs themselves. JKS and PKCS12 are
refused with a word on how to convert them: Python reads neither. Everything is asked for this
listener first (``listener.name.external.ssl.keystore.location``), then for all.

Rules of this file. What is wrong is told in one line that names the config, and no line ever holds
a key or a password. Python loads keys from files alone, so a key that came as text is handed over
in a file that exists in memory only and has no name anybody else could open. A key that wants a
password it was not given is an error; nobody is ever asked for it on a terminal.
"""

import os
import re
import ssl
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from kbroker.config import BrokerConfig
from kbroker.config.values import Password

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
# The suites of TLS 1.3 that OpenSSL offers. Python cannot choose among them.
_SUITES_1_3 = {"TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"}

# In a properties file a PEM text may have lost its line ends, or have got blanks in their place.
_PEM_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----([^-]*)-----END \1-----")
_PEM_COLUMNS = 64

# Attributes that RFC 2253 has names for, by OpenSSL's names.
_RFC_2253 = {
    "commonName": "CN",
    "countryName": "C",
    "domainComponent": "DC",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "stateOrProvinceName": "ST",
    "streetAddress": "STREET",
    "userId": "UID",
}
_ESCAPED = re.compile(r'([,+"\\<>;])')


class TlsConfigError(Exception):
    """A listener cannot encrypt; the text says which config is why."""


def tls_context(config: BrokerConfig, listener: str) -> ssl.SSLContext:
    """How connections of ``listener`` are encrypted; TlsConfigError if the configs do not do."""
    configs = _Configs(config, listener)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # A client could have us do the costly part of a handshake again and again.
    context.options |= ssl.OP_NO_RENEGOTIATION
    # A client that goes without a word of TLS still gets its answers. Nothing is lost by it: the
    # length of a request says whether it is whole.
    context.options |= ssl.OP_IGNORE_UNEXPECTED_EOF
    _choose_versions_and_suites(context, configs)
    _load_key(context, configs)
    _load_trusted(context, configs)
    return context


def principal_of(sock: ssl.SSLSocket) -> str | None:
    """The name in the client's certificate, as Kafka writes it; None if it has shown none."""
    certificate = sock.getpeercert()
    if not certificate:
        return None
    subject: tuple[tuple[tuple[str, str], ...], ...] = certificate.get("subject", ())  # type: ignore[assignment]
    return f"User:{distinguished_name(subject)}"


def distinguished_name(subject: Iterable[Iterable[tuple[str, str]]]) -> str:
    """A name of X.500 as RFC 2253 wants it: the last part first, and its own marks escaped.

    What RFC 2253 has no name for keeps OpenSSL's; Java writes the number of its type instead.
    """
    parts = ["+".join(f"{_RFC_2253.get(n, n)}={_escape(v)}" for n, v in part) for part in subject]
    return ",".join(reversed(parts))


def _escape(value: str) -> str:
    escaped = _ESCAPED.sub(r"\\\1", value)
    if escaped.startswith((" ", "#")):
        escaped = "\\" + escaped
    if escaped.endswith(" ") and len(escaped) > 1:
        escaped = escaped[:-1] + "\\ "
    return escaped


class _Configs:
    """The configs of one listener."""

    __slots__ = ("_config", "_listener")

    def __init__(self, config: BrokerConfig, listener: str) -> None:
        self._config = config
        self._listener = listener

    def text(self, name: str) -> str | None:
        value = self._config.listener_value(self._listener, name)
        assert value is None or isinstance(value, str)
        return value

    def names(self, name: str) -> tuple[str, ...]:
        value = self._config.listener_value(self._listener, name)
        assert value is None or isinstance(value, tuple)
        return value or ()

    def secret(self, name: str) -> str | None:
        value = self._config.listener_value(self._listener, name)
        assert value is None or isinstance(value, Password)
        return None if value is None else value.value


def _choose_versions_and_suites(context: ssl.SSLContext, configs: _Configs) -> None:
    names = set(configs.names("ssl.enabled.protocols"))
    if unknown := names - _VERSIONS.keys():
        raise TlsConfigError(
            f"ssl.enabled.protocols: {', '.join(sorted(unknown))} is not offered, "
            f"only {' and '.join(_VERSIONS)}"
        )
    suites = configs.names("ssl.cipher.suites")
    if suites:
        newer = _SUITES_1_3 & set(suites)
        if newer and newer != _SUITES_1_3:
            raise TlsConfigError(
                "ssl.cipher.suites: the suites of TLS 1.3 can only be offered all together: "
                + ", ".join(sorted(_SUITES_1_3))
            )
        older = [suite for suite in suites if suite not in newer]
        _set_suites(context, older)
        # Without a suite of its own a version is not offered, as in Java.
        names -= {"TLSv1.3"} if not newer else set()
        names -= {"TLSv1.2"} if not older else set()
    if not names:
        raise TlsConfigError("ssl.enabled.protocols and ssl.cipher.suites leave no TLS version")
    versions = sorted(_VERSIONS[name] for name in names)
    context.minimum_version, context.maximum_version = versions[0], versions[-1]


def _set_suites(context: ssl.SSLContext, suites: list[str]) -> None:
    """Offer these suites of TLS 1.2."""
    for suite in suites:
        try:
            context.set_ciphers(_openssl_name(suite))
        except ssl.SSLError:
            raise TlsConfigError(f"ssl.cipher.suites: {suite} is not known here") from None
    if suites:
        context.set_ciphers(":".join(map(_openssl_name, suites)))


def _openssl_name(suite: str) -> str:
    """TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 as OpenSSL says it: ECDHE-RSA-AES128-GCM-SHA256."""
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = cipher.replace("_CBC", "").replace("POLY1305_SHA256", "POLY1305")
    cipher = re.sub(r"AES_(\d+)", r"AES\1", cipher)
    name = cipher if exchange == "RSA" else f"{exchange}-{cipher}"
    # Nothing but a name: to OpenSSL some marks mean whole families of suites.
    return re.sub(r"[^A-Za-z0-9-]", "-", name)


def _load_key(context: ssl.SSLContext, configs: _Configs) -> None:
    location = configs.text("ssl.keystore.location")
    key, chain = (
        configs.secret("ssl.keystore.key"),
        configs.secret("ssl.keystore.certificate.chain"),
    )
    _check_store(configs, "keystore", location, key or chain)
    password = configs.secret("ssl.key.password") or ""
    if location:
        _read(location, "ssl.keystore.location")
        with _as_config_error("ssl.keystore.location", location):
            context.load_cert_chain(location, password=password)
    elif key and chain:
        keys = _pem(key, "ssl.keystore.key")
        certificates = _pem(chain, "ssl.keystore.certificate.chain")
        with (
            _as_config_error("ssl.keystore.key"),
            _file_in_memory(keys) as key_file,
            _file_in_memory(certificates) as chain_file,
        ):
            context.load_cert_chain(chain_file, key_file, password)
    elif key or chain:
        raise TlsConfigError("ssl.keystore.key and ssl.keystore.certificate.chain go together")
    else:
        raise TlsConfigError(
            "TLS needs a key: set ssl.keystore.type=PEM and ssl.keystore.location, or "
            "ssl.keystore.key and ssl.keystore.certificate.chain"
        )


def _load_trusted(context: ssl.SSLContext, configs: _Configs) -> None:
    """Whose certificates are believed, and whether clients have to show one."""
    location = configs.text("ssl.truststore.location")
    certificates = configs.secret("ssl.truststore.certificates")
    _check_store(configs, "truststore", location, certificates)
    if location:
        _read(location, "ssl.truststore.location")
        with _as_config_error("ssl.truststore.location", location):
            context.load_verify_locations(cafile=location)
    elif certificates:
        with _as_config_error("ssl.truststore.certificates"):
            context.load_verify_locations(cadata=_pem(certificates, "ssl.truststore.certificates"))
    wanted = configs.text("ssl.client.auth") or "none"
    context.verify_mode = _CLIENT_AUTH[wanted]
    if context.verify_mode is not ssl.CERT_NONE and not (location or certificates):
        raise TlsConfigError(
            f"ssl.client.auth={wanted} needs ssl.truststore.location or ssl.truststore.certificates"
        )


def _check_store(configs: _Configs, store: str, location: str | None, text: str | None) -> None:
    """Whether a store is one we can read, and is given once; nothing at all is no error here."""
    if not location and not text:
        return
    kind = (configs.text(f"ssl.{store}.type") or "").upper()
    if kind != "PEM":
        raise TlsConfigError(
            f"ssl.{store}.type={kind}: only PEM can be read; convert the store to PEM with keytool "
            f"and openssl, and set ssl.{store}.type=PEM"
        )
    if location and text:
        raise TlsConfigError(f"ssl.{store}.location and PEM text in the configs exclude each other")
    if configs.secret(f"ssl.{store}.password"):
        raise TlsConfigError(
            f"ssl.{store}.password: PEM has none; the password of the private key is "
            "ssl.key.password"
        )


def _pem(text: str, config: str) -> str:
    """PEM with its line ends in place; TlsConfigError if ``text`` is none."""
    blocks = _PEM_BLOCK.findall(text)
    if not blocks:
        raise TlsConfigError(f"{config} holds no PEM text")
    lines: list[str] = []
    for label, body in blocks:
        lines += [f"-----BEGIN {label}-----"]
        lines += textwrap.wrap("".join(body.split()), _PEM_COLUMNS)
        lines += [f"-----END {label}-----"]
    return "\n".join(lines) + "\n"


def _read(path: str, config: str) -> None:
    """TlsConfigError if a file cannot be read; OpenSSL would only say that something failed."""
    try:
        with open(path, "rb") as file:
            file.read(1)
    except OSError as error:
        raise TlsConfigError(f"{config}: cannot read {path}: {error.strerror}") from None


@contextmanager
def _as_config_error(config: str, path: str = "") -> Iterator[None]:
    """What OpenSSL says about a key or a certificate, in one line without the key."""
    where = f"{config} {path}".rstrip()
    try:
        yield
    except ssl.SSLError as error:
        reason = (error.reason or "no PEM that fits, or a wrong password").replace("_", " ").lower()
        raise TlsConfigError(f"{where}: {reason}") from None
    except (OSError, ValueError):
        raise TlsConfigError(f"{where}: cannot be used") from None


@contextmanager
def _file_in_memory(text: str) -> Iterator[str]:
    """The path of a file that holds ``text``, is ours alone and is gone afterwards."""
    descriptor = os.memfd_create("pem", os.MFD_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
