"""Records as JSON, for the lines between scenarios and client programs (see ``program``).

Programs run with interpreters of their own, so nothing but Python itself is needed here.
"""

import base64
from typing import Any

from compat_tests.client import Received, Sent


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def sent_as_json(sent: Sent) -> dict[str, object]:
    return {
        "value": _text(sent.value),
        "key": _text(sent.key),
        "headers": [[name, _text(value)] for name, value in sent.headers],
        "timestamp_ms": sent.timestamp_ms,
        "partition": sent.partition,
    }


def sent_from_json(told: dict[str, Any]) -> Sent:
    return Sent(
        _bytes(told["value"]),
        _bytes(told["key"]),
        tuple((name, _bytes(value)) for name, value in told["headers"]),
        told["timestamp_ms"],
        told["partition"],
    )


def received_as_json(received: Received) -> dict[str, object]:
    return {
        "offset": received.offset,
        "value": _text(received.value),
        "key": _text(received.key),
        "headers": [[name, _text(value)] for name, value in received.headers],
        "timestamp_ms": received.timestamp_ms,
        "timestamp_type": received.timestamp_type,
        "partition": received.partition,
    }


def received_from_json(told: dict[str, Any]) -> Received:
    return Received(
        told["offset"],
        _bytes(told["value"]),
        _bytes(told["key"]),
        tuple((name, _bytes(value)) for name, value in told["headers"]),
        told["timestamp_ms"],
        told["timestamp_type"],
        told["partition"],
    )
