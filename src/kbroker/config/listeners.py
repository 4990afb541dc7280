"""Listeners: the texts ``NAME://host:port`` of listeners and advertised.listeners.

A listener has a name, and listener.security.protocol.map says which security
protocol the name stands for, so that two listeners can speak the same one. Names
are compared in upper case.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kbroker.config.errors import ConfigError

_SHAPE: Final = re.compile(r"([^:/?#]+)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]{1,9})")
_HIGHEST_PORT: Final = 65_535
_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - it is refused here, not bound


@dataclass(frozen=True, slots=True)
class Listener:
    """One address; an empty ``host`` is every interface, ``port`` 0 any free port."""

    name: str
    protocol: str
    host: str
    port: int

    @property
    def tls(self) -> bool:
        """Whether connections are encrypted."""
        return self.protocol in ("SSL", "SASL_SSL")

    @property
    def sasl(self) -> bool:
        """Whether connections begin with a SASL exchange."""
        return self.protocol.startswith("SASL_")


def parse_protocols(text: str) -> dict[str, str]:
    """The security protocol of each listener name; ConfigError if ``text`` is malformed."""
    config = "listener.security.protocol.map"
    protocols = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name, colon, protocol = (part.strip() for part in entry.partition(":"))
        if not colon or protocol.upper() not in _PROTOCOLS:
            reason = f"each entry must be NAME:PROTOCOL with one of {', '.join(_PROTOCOLS)}"
            raise ConfigError.of_value(config, text, reason)
        protocols[name.upper()] = protocol.upper()
    return protocols


def parse_listeners(
    config: str, texts: Sequence[str], protocols: Mapping[str, str]
) -> tuple[Listener, ...]:
    """The listeners that ``texts`` of ``config`` stand for; ConfigError if one is wrong."""
    listeners = []
    for text in texts:
        match = _SHAPE.fullmatch(text.strip())
        if match is None:
            raise ConfigError.of_value(config, text, "a listener looks like NAME://host:port")
        name, host, port = match[1].upper(), match[2], int(match[3])
        if not 0 <= port <= _HIGHEST_PORT:
            raise ConfigError.of_value(config, text, f"the port must be 0 to {_HIGHEST_PORT}")
        if name not in protocols:
            reason = f"No security protocol defined for listener {name}"
            raise ConfigError.of_value(config, text, reason)
        listeners.append(Listener(name, protocols[name], host, port))
    names = [listener.name for listener in listeners]
    if len(set(names)) != len(names):
        raise ConfigError(f"Each listener must have a different name, {config}: {','.join(texts)}")
    return tuple(listeners)


def advertised_listeners(
    listeners: Sequence[Listener], texts: Sequence[str], protocols: Mapping[str, str]
) -> tuple[Listener, ...]:
    """What clients are told; ConfigError where it does not fit ``listeners``."""
    if not texts:
        advertised = tuple(listeners)
    else:
        advertised = parse_listeners("advertised.listeners", texts, protocols)
        names = [listener.name for listener in listeners]
        if not {listener.name for listener in advertised} <= set(names):
            raise ConfigError(
                "advertised.listeners listener names must be equal to or a subset of the ones "
                f"defined in listeners. Found {','.join(one.name for one in advertised)}. The "
                f"valid options based on the current configuration are {','.join(names)}"
            )
    if any(listener.host == _EVERYWHERE for listener in advertised):
        raise ConfigError(
            "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. "
            "Use a routable IP address."
        )
    return advertised
