"""Options that several commands share, and the values people write in them.

The functions that read a value raise ArgumentTypeError, whose words the parser prints.
"""

import argparse
import os
from argparse import ArgumentTypeError
from datetime import UTC, datetime, timedelta

from kbroker.client.bootstrap import parse_bootstrap
from kbroker.client.consuming import Start
from kbroker.records import Compression

_DEFAULT_BOOTSTRAP = "127.0.0.1:9092"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_INT64 = 2**63 - 1
_MAX_INT32 = 2**31 - 1


def add_bootstrap(parser: argparse.ArgumentParser) -> None:
    """The option that says which cluster is meant."""
    parser.add_argument(
        "--bootstrap",
        metavar="HOST:PORT[,...]",
        type=bootstrap,
        default=os.environ.get("KBROKER_BOOTSTRAP") or _DEFAULT_BOOTSTRAP,
        help=f"brokers to ask first (default: $KBROKER_BOOTSTRAP, else {_DEFAULT_BOOTSTRAP})",
    )


def bootstrap(text: str) -> str:
    """``text`` itself, once it is known to be a list of addresses."""
    try:
        parse_bootstrap(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
    return text


def positive(text: str) -> int:
    """A number from 1 on."""
    number = _number(text)
    if not 1 <= number <= _MAX_INT32:
        raise ArgumentTypeError(f"{text!r} is not a number from 1 to {_MAX_INT32}")
    return number


def partition(text: str) -> int:
    """The number of a partition, from 0 on."""
    number = _number(text)
    if not 0 <= number <= _MAX_INT32:
        raise ArgumentTypeError(f"{text!r} is not the number of a partition")
    return number


def setting(text: str) -> tuple[str, str]:
    """A name and a value with an equals sign between them; the value may be empty."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def separator(text: str) -> str:
    r"""Text that stands between a key and a value; ``\t`` is a tab."""
    if not text:
        raise ArgumentTypeError("the separator is empty")
    return text.replace("\\t", "\t")


def compression(text: str) -> Compression:
    """One of Kafka's compression types by its name."""
    try:
        return Compression[text.upper()]
    except KeyError:
        names = ", ".join(each.name.lower() for each in Compression)
        raise ArgumentTypeError(f"{text!r} is none of {names}") from None


def start(text: str) -> Start:
    """Where to begin to read: beginning, end, an offset, ``@`` and milliseconds, or a time."""
    if text == "beginning":
        return Start.earliest()
    if text == "end":
        return Start.latest()
    if text.isascii() and text.isdigit():
        return Start.at_offset(_int64(text))
    return Start.at_timestamp(
        _timestamp_ms(text, "beginning, end, an offset, @MILLISECONDS or an ISO 8601 time")
    )


def moment(text: str) -> Start:
    """A time to begin at: ``@`` and milliseconds, or ISO 8601."""
    return Start.at_timestamp(_timestamp_ms(text, "@MILLISECONDS or an ISO 8601 time"))


def offset(text: str) -> Start:
    """An offset to begin at, from 0 on."""
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"{text!r} is not an offset")
    return Start.at_offset(_int64(text))


def _timestamp_ms(text: str, expected: str) -> int:
    """Milliseconds, or a date or time; in UTC, as timestamps are shown, unless it names a zone."""
    if text.startswith("@") and text[1:].isascii() and text[1:].isdigit():
        return _int64(text[1:])
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not {expected}") from None
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    timestamp_ms = (parsed - _EPOCH) // timedelta(milliseconds=1)
    if timestamp_ms < 0:
        raise ArgumentTypeError(f"{text!r} lies before 1970")
    return timestamp_ms


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None


def _int64(text: str) -> int:
    number = _number(text)
    if number > _MAX_INT64:
        raise ArgumentTypeError(f"{text!r} is larger than every offset and time")
    return number
