"""Log lines: an event in words, and the facts beside it as fields.

    log = get_logger("server")
    log.info("client disconnected", peer="10.0.0.7:51312", reason="idle")

Events are fixed sentences a person can search for; what varies stands in the fields. Both formats
carry the same content, one line an event:

    text  2026-01-31T12:00:00.000Z INFO server: client disconnected peer=10.0.0.7:51312 reason=idle
    json  {"time":"2026-01-31T12:00:00.000Z","level":"info","logger":"server","event":...}

Fields often hold what a client sent (client ids, topic names). So that nobody can forge a line or
send escape sequences to a terminal, whatever does not print is escaped, and a value is cut at
`MAX_FIELD_CHARACTERS`. Writing is the business of the standard library's `logging`.
"""

import json
import logging
from datetime import UTC, datetime
from typing import Literal, TextIO, TypeAlias

LogFormat: TypeAlias = Literal["text", "json"]

# Long enough for a topic name (249), short enough that a hostile client id fills no disk.
MAX_FIELD_CHARACTERS = 256

_ROOT = "kbroker"
# Besides blanks, what would make key=value ambiguous.
_NEEDS_QUOTES = frozenset(' "=')


class Logger:
    """Writes the events of one part of the broker."""

    __slots__ = ("_logger",)

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(f"{_ROOT}.{name}")

    def debug(self, event: str, **fields: object) -> None:
        """What only a developer wants to see."""
        self._log(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        """What an operator may want to know later."""
        self._log(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """What an operator should look at when there is time."""
        self._log(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> None:
        """What an operator should look at now."""
        self._log(logging.ERROR, event, fields)

    def failure(self, event: str, error: BaseException, **fields: object) -> None:
        """An error that is a bug of ours, with its traceback."""
        self._log(logging.ERROR, event, fields, error)

    def is_enabled_for_debug(self) -> bool:
        """Whether `debug` writes anything; asked before fields are made on a hot path."""
        return self._logger.isEnabledFor(logging.DEBUG)

    def _log(
        self,
        level: int,
        event: str,
        fields: dict[str, object],
        error: BaseException | None = None,
    ) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, event, exc_info=error, extra={"fields": fields})


def get_logger(name: str) -> Logger:
    """The logger of one part of the broker, for instance ``get_logger("server")``."""
    return Logger(name)


def configure_logging(stream: TextIO, log_format: LogFormat = "text", level: str = "INFO") -> None:
    """Write the events of ``level`` and above to ``stream``, and nowhere else.

    May be called again: the last call counts.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    root = logging.getLogger(_ROOT)
    root.handlers[:] = [handler]
    root.setLevel(level)
    root.propagate = False


class TextFormatter(logging.Formatter):
    """One line a person can read; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of ``record``, without its end."""
        words = [_timestamp(record), record.levelname, f"{_name(record)}: {escape(record.msg)}"]
        words += [f"{key}={_quoted(_text(value))}" for key, value in _fields(record).items()]
        line = " ".join(words)
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class JsonFormatter(logging.Formatter):
    """One JSON object; numbers and truth values stay what they are."""

    def format(self, record: logging.LogRecord) -> str:
        """The object of ``record`` on one line, without its end."""
        event: dict[str, object] = {
            "time": _timestamp(record),
            "level": record.levelname.lower(),
            "logger": _name(record),
            "event": escape(record.msg),
        }
        for key, value in _fields(record).items():
            plain = value is None or isinstance(value, bool | int | float)
            # A field never hides the event it belongs to.
            event[f"{key}_" if key in event else key] = value if plain else _text(value)
        if record.exc_info:
            event["traceback"] = self.formatException(record.exc_info)
        return json.dumps(event, separators=(",", ":"))


def escape(text: str) -> str:
    """``text`` with everything that does not print as an escape, cut if it is too long."""
    cut = text[: MAX_FIELD_CHARACTERS + 1]
    if len(cut) > MAX_FIELD_CHARACTERS:
        cut = cut[: MAX_FIELD_CHARACTERS - 1] + "…"
    if cut.isprintable() and "\\" not in cut:
        return cut
    return "".join(_escape_character(each) for each in cut)


def _escape_character(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character.isprintable():
        return character
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def _text(value: object) -> str:
    return escape(value if isinstance(value, str) else str(value))


def _quoted(text: str) -> str:
    if text and not _NEEDS_QUOTES.intersection(text):
        return text
    return '"' + text.replace('"', '\\"') + '"'


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields: dict[str, object] = getattr(record, "fields", {})
    return fields


def _name(record: logging.LogRecord) -> str:
    return record.name.removeprefix(f"{_ROOT}.")


def _timestamp(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
