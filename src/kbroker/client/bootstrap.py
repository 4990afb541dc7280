"""The addresses a client knows before it knows the cluster: ``host:port[,host:port]``.

A port that is not given is 9092, Kafka's own; an IPv6 address stands in brackets.
"""

from typing import NamedTuple

DEFAULT_PORT = 9092
_MAX_PORT = 65535


class Address(NamedTuple):
    """A host name or IP address, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_bootstrap(text: str) -> tuple[Address, ...]:
    """The addresses in ``text``, in their order; ValueError if one is none, or there are none."""
    addresses = tuple(_parse_address(part.strip()) for part in text.split(",") if part.strip())
    if not addresses:
        raise ValueError("no address given")
    return addresses


def _parse_address(text: str) -> Address:
    if text.startswith("["):
        host, bracket, behind = text[1:].partition("]")
        sound = bool(bracket) and (not behind or behind.startswith(":"))
        port = behind[1:]
        missing = not behind
    else:
        host, colon, port = text.partition(":")
        sound = ":" not in port  # A bare IPv6 address could end in a port or not.
        missing = not colon
    if not sound or not host or any(character in host for character in "/ \t"):
        raise ValueError(f"{text!r} is not HOST:PORT")
    if missing:
        return Address(host, DEFAULT_PORT)
    if not (port.isascii() and port.isdigit()) or not 0 < int(port) <= _MAX_PORT:
        raise ValueError(f"{text!r} has no port between 1 and {_MAX_PORT}")
    return Address(host, int(port))
