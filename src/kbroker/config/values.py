"""Config values: text to typed value and back, exactly as Java reads and prints them.

Clients send text, server.properties holds text, and DescribeConfigs shows text,
so the text of a value is part of the protocol: ``1.5e7`` is shown as ``1.5E7``,
`` compact , delete`` as ``compact,delete``, ``TRUE`` as ``true``.
"""

import re
from enum import IntEnum
from typing import Final

from kbroker.config.errors import ConfigError


class ConfigType(IntEnum):
    """The type of a config, with its number in DescribeConfigs."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Password:
    """A secret that does not show itself in logs, errors or tracebacks."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value: Final = value

    def __repr__(self) -> str:
        return "[hidden]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)


ConfigValue = bool | int | float | str | tuple[str, ...] | Password | None

# What Java's String.trim takes away: every control character and the space.
_BLANK = "".join(map(chr, range(33)))
_COMMA = re.compile(r"[ \t\n\v\f\r]*,[ \t\n\v\f\r]*")
# At most 19 digits count, so a text of a million digits is never turned into a number.
_WHOLE = re.compile(r"[+-]?0*[0-9]{1,19}")
_DECIMAL = re.compile(
    r"[+-]?(Infinity|([0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})([eE][+-]?[0-9]{1,9})?[fFdD]?)"
)
_BITS = {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}


def parse_value(kind: ConfigType, name: str, text: str) -> ConfigValue:
    """The value that ``text`` stands for; ConfigError if it stands for none."""
    trimmed = text.strip(_BLANK)
    match kind:
        case ConfigType.BOOLEAN:
            if trimmed.lower() in ("true", "false"):
                return trimmed.lower() == "true"
            raise ConfigError.of_value(name, text, "Expected value to be either true or false")
        case ConfigType.SHORT | ConfigType.INT | ConfigType.LONG:
            return _parse_whole(kind, name, text, trimmed)
        case ConfigType.DOUBLE:
            if _DECIMAL.fullmatch(trimmed):
                return float(trimmed.rstrip("fFdD"))
            raise ConfigError.of_value(name, text, "Not a number of type DOUBLE")
        case ConfigType.LIST:
            return tuple(_COMMA.split(trimmed)) if trimmed else ()
        case ConfigType.PASSWORD:
            return Password(trimmed)
        case _:
            return trimmed


def _parse_whole(kind: ConfigType, name: str, text: str, trimmed: str) -> int:
    if _WHOLE.fullmatch(trimmed):
        number = int(trimmed)
        limit = 1 << (_BITS[kind] - 1)
        if -limit <= number < limit:
            return number
    raise ConfigError.of_value(name, text, f"Not a number of type {kind.name}")


def format_value(value: ConfigValue) -> str | None:
    """The text Kafka shows for ``value``; a password shows as hidden."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return format_double(value)
        case tuple():
            return ",".join(value)
        case _:
            return str(value)


def format_double(value: float) -> str:
    """``value`` as Java prints it: plain from 0.001 up to 10 million, else with an exponent.

    Both languages print the shortest digits that read back as the same number.
    """
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        # Python uses an exponent only below 0.0001 and from 10**16 on.
        return repr(value)
    digits, exponent = _shortest_digits(abs(value))
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def _shortest_digits(value: float) -> tuple[str, int]:
    """The significant digits of a positive number, and the power of ten of the first one."""
    mantissa, _, power = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    exponent = int(power or 0) + len(whole) - 1 - leading_zeros
    return digits.rstrip("0"), exponent
