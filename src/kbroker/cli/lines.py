"""A record as a line: text for people, JSON for programs.

Text keeps bytes as they are. What is asked for stands before the value, with tabs between: the
timestamp, the headers, the key; a null is the word ``null``.

JSON has every field on one line. Bytes that are no UTF-8 become ``{"base64": "..."}``, so that
nothing is lost and text stays readable.
"""

import json
from base64 import b64encode
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from kbroker.client.consuming import Consumed
from kbroker.records import Header

Json: TypeAlias = "str | int | list[Json] | dict[str, Json] | None"

_NULL = b"null"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TextForm:
    """What a line of text shows beside the value."""

    keys: bool = False
    headers: bool = False
    timestamps: bool = False

    def line(self, consumed: Consumed) -> bytes:
        """The line without its end."""
        record = consumed.record
        columns = []
        if self.timestamps:
            columns.append(timestamp_text(record.timestamp_ms).encode())
        if self.headers:
            columns.append(b",".join(map(_header_text, record.headers)))
        if self.keys:
            columns.append(_NULL if record.key is None else record.key)
        columns.append(_NULL if record.value is None else record.value)
        return b"\t".join(columns)


def json_line(topic: str, consumed: Consumed) -> bytes:
    """The line without its end; the form is fixed, whatever the record holds."""
    record = consumed.record
    fields: dict[str, Json] = {
        "topic": topic,
        "partition": consumed.partition,
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "timestamp": timestamp_text(record.timestamp_ms),
        "headers": [
            [_json_text(name.encode(*_AS_READ)), _json_text(v)] for name, v in record.headers
        ],
        "key": _json_text(record.key),
        "value": _json_text(record.value),
    }
    return json.dumps(fields, ensure_ascii=False, separators=(", ", ": ")).encode()


# How `kbroker.records` writes names of headers that are no UTF-8.
_AS_READ = ("utf-8", "surrogateescape")


def timestamp_text(timestamp_ms: int) -> str:
    """ISO 8601 in UTC with milliseconds; ``@`` and the number if no calendar reaches that far."""
    try:
        moment = _EPOCH + timedelta(milliseconds=timestamp_ms)
    except OverflowError:
        return f"@{timestamp_ms}"
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{timestamp_ms % 1000:03d}Z"


def _header_text(header: Header) -> bytes:
    name, value = header
    return name.encode(*_AS_READ) + b"=" + (_NULL if value is None else value)


def _json_text(data: bytes | None) -> Json:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode("ascii")}
