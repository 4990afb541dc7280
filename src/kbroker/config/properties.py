"""The format of server.properties: Java's, with all its corners.

A line holds a key and a value with ``=``, ``:`` or blanks between them. Lines
that begin with ``#`` or ``!`` are comments. A backslash at the end of a line
continues it on the next one, whose leading blanks do not count; elsewhere it
escapes the character behind it. Of a key that stands there twice, the last counts.
"""

import re
from collections.abc import Iterator
from typing import Final

from kbroker.config.errors import ConfigError

_BLANKS: Final = " \t\f"
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
# A key ends at the first separator that is not escaped; blanks may stand around it.
_KEY: Final = re.compile(r"(?:[^\\=: \t\f]|\\.)*", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_LETTERS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def parse_properties(text: str) -> dict[str, str]:
    """The keys and values of ``text``; ConfigError if it holds a broken ``\\u`` escape."""
    properties = {}
    for line in _logical_lines(text):
        key = _KEY.match(line)
        assert key is not None, "an empty key matches, too"
        separator = _SEPARATOR.match(line, key.end())
        assert separator is not None, "no separator matches, too"
        properties[_unescape(key[0])] = _unescape(line[separator.end() :])
    return properties


def _logical_lines(text: str) -> Iterator[str]:
    """Lines that say something, with their continuations joined."""
    continued = ""
    unfinished = False
    # Java sees no line behind a last line end of one character; only a lone backslash shows it.
    if text.endswith(("\n", "\r")) and not text.endswith("\r\n"):
        text = text[:-1]
    for natural_line in _LINE_END.split(text):
        line = natural_line.lstrip(_BLANKS)
        if not continued and (not line or line[0] in "#!"):
            unfinished = False
            continue
        line = continued + line
        # An even number of backslashes are escaped backslashes, and the line ends here.
        backslashes = len(line) - len(line.rstrip("\\"))
        unfinished = backslashes % 2 == 1
        if unfinished:
            continued = line[:-1]
        else:
            continued = ""
            yield line
    if unfinished:
        yield continued


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    # Two escapes may be the halves of one character beyond U+FFFF.
    halves = _ESCAPE.sub(_character, text).encode("utf-16-le", "surrogatepass")
    return halves.decode("utf-16-le", "replace")


def _character(match: re.Match[str]) -> str:
    escaped: str = match[1]
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    if escaped == "u":
        raise ConfigError("Malformed \\uxxxx encoding.")
    return _LETTERS.get(escaped, escaped)
