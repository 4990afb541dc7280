"""Python source in the making: lines, indentation, constants and fresh names.

Both codec compilers write one function as text and have Python compile it. The text can be read
in tracebacks, because it is registered with `linecache` under the name of its codec.
"""

import linecache
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

STRUCT_FORMAT: dict[str, str] = {
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
    "boolean": "?",
    "uuid": "16s",
}

# Arrays of up to this many integers have a reader and a writer of their own, made at once; longer
# ones pay for a format string.
SMALL_ARRAY = 32


class SourceWriter:
    """Collects the lines of one function and the constants they use."""

    def __init__(self, codec_name: str, constants: dict[str, object]) -> None:
        self.codec_name = codec_name
        self.constants = constants
        self._lines: list[str] = []
        self._indent = ""
        self._names = 0

    def line(self, text: str) -> None:
        """Adds a line at the present depth."""
        self._lines.append(self._indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Adds ``head`` and puts what follows one step deeper."""
        self.line(head)
        self._indent += "    "
        yield
        self._indent = self._indent[:-4]

    def fresh(self, prefix: str) -> str:
        """A local name nobody else uses."""
        self._names += 1
        return f"{prefix}_{self._names}"

    def constant(self, name: str, value: object) -> str:
        """A global name for ``value``; equal names must mean the same value."""
        name = name.replace("?", "o")  # a name may hold the letters of a format
        assert self.constants.get(name, value) is value or self.constants[name] == value
        self.constants[name] = value
        return name

    def compile(self, function: str) -> Callable[..., object]:
        """The function called ``function`` that the lines define."""
        text = "\n".join(self._lines) + "\n"
        file_name = f"<{self.codec_name}>"
        linecache.cache[file_name] = (len(text), None, text.splitlines(keepends=True), file_name)
        exec(compile(text, file_name, "exec"), self.constants)  # noqa: S102 - our own text
        return cast("Callable[..., object]", self.constants[function])


def shared_struct(letters: str) -> struct.Struct:
    """The big-endian `Struct` of these format letters; there is one for all codecs."""
    found = _structs.get(letters)
    if found is None:
        found = _structs[letters] = struct.Struct(">" + letters)
    return found


def small_array_structs(letter: str, before: str = "") -> tuple[struct.Struct, ...]:
    """One `Struct` for each length of a small array of numbers, zero included.

    ``before`` is the format of what stands before the array.
    """
    found = _small_arrays.get((letter, before))
    if found is None:
        found = tuple(struct.Struct(f">{before}{count}{letter}") for count in range(SMALL_ARRAY))
        _small_arrays[letter, before] = found
    return found


_structs: dict[str, struct.Struct] = {}
# By the formats of an element and of what stands before the array; as many as codecs ask for.
_small_arrays: dict[tuple[str, str], tuple[struct.Struct, ...]] = {}
