"""Compiles a decoder for one message at one version.

The decoder is one function in which all structures are unrolled: fields of fixed size that follow
one another are unpacked together, the length or count behind them included, and loops run without
a call per element. Arrays of structures of fixed size, such as the partitions of a Fetch request,
are unpacked in one sweep.

Safety (INVARIANTS 5). A length is compared with what is left before it is used; a count is
compared with what its elements take at least; elements are paid for out of a budget, see
`kbroker.wire.sizes`. In messages that are not copied first, reading past ``end`` into bytes of the
next frame can happen for a few fixed fields; it is noticed at the end, and what was read is thrown
away with the message.
"""

import struct
from itertools import repeat
from typing import cast

from kbroker.wire.errors import ProtocolError
from kbroker.wire.message import Decoder, Message
from kbroker.wire.notation import Buffer, Field
from kbroker.wire.sizes import (
    COST_ALLOWANCE,
    COST_PER_BYTE,
    DATA_COST,
    FIXED_BYTES,
    LIST_COST,
    MAX_STRING_BYTES,
    STRING_COST,
    STRING_COST_PER_BYTE,
    element_cost,
    has_records,
    is_fixed,
    present,
    smallest_structure,
    smallest_value,
    structure_cost,
    tagged,
)
from kbroker.wire.source import (
    SMALL_ARRAY,
    STRUCT_FORMAT,
    SourceWriter,
    shared_struct,
    small_array_structs,
)
from kbroker.wire.tags import next_tag, skip_tags, tag_count
from kbroker.wire.varints import decode_uvarint_rest

# From this many structures of fixed size on, reading all in one sweep is worth its preparation.
MANY = 4


_EMPTY = {"string": "''", "data": "b''", "records": "view[:0]"}


def compile_decoder(cls: type[Message], version: int) -> Decoder:
    """A function (buffer, position, end) -> (message, position behind it)."""
    flexible = version in cls.flexible_versions
    return _DecoderCompiler(cls, version, flexible).compile()


class _DecoderCompiler:
    """Writes the source of one decoder.

    ``_pending`` holds the fixed-size values that wait to be unpacked together: a format and the
    target each is assigned to. Whatever needs their values, or moves the position, flushes first.
    """

    def __init__(self, cls: type[Message], version: int, flexible: bool) -> None:
        self._cls = cls
        self._version = version
        self._flexible = flexible
        # Slices of bytes are so much faster than those of other buffers that a copy pays. Record
        # batches are not copied: a message that may hold some is read where it lies.
        self._copies = not has_records(cls, version)
        self._pending: list[tuple[str, str]] = []
        self._out = SourceWriter(f"decode {cls.__name__} {version}", dict(_RUNTIME))

    def compile(self) -> Decoder:
        out = self._out
        with out.block("def decode(buffer, position, end):"):
            with out.block("try:"):
                if self._copies:
                    out.line("base = position")
                    out.line("buffer = bytes(buffer[position:end])")
                    out.line("position = 0")
                    out.line("end = len(buffer)")
                else:
                    out.line("view = memoryview(buffer)")
                out.line(f"budget = {COST_PER_BYTE} * (end - position) + {COST_ALLOWANCE}")
                root = self._structure(self._cls)
                self._flush()
            with out.block("except (IndexError, StructError):"):
                out.line("raise too_short(end) from None")
            with out.block("if position > end:"):
                out.line("raise too_short(end)")
            out.line(f"return {root}, position" + (" + base" if self._copies else ""))
        return cast(Decoder, out.compile("decode"))

    def _structure(self, cls: type[Message]) -> str:
        """Decodes a ``cls`` into a new object; gives the name of its variable."""
        out = self._out
        target = out.fresh("message")
        out.line(f"{target} = new({out.constant(cls.__name__, cls)})")
        for field in cls.fields:
            if field.tag is not None or self._version not in field.versions:
                out.line(f"{target}.{field.name} = {self._default(field)}")
        for field in present(cls, self._version):
            self._field(field, f"{target}.{field.name}")
        if self._flexible:
            self._tagged_fields(cls, target)
        return target

    def _default(self, field: Field) -> str:
        if isinstance(field.default, list):
            return "[]"
        # A structure in line that cannot be null is there. So is a tagged one that can: Kafka
        # writes its null, and leaves out the structure full of defaults.
        there = not field.nullable if field.tag is None else self._nullable(field)
        if field.type == "structure" and there:
            assert isinstance(field.element, type)
            return self._out.constant(field.element.__name__, field.element) + "()"
        return repr(field.default)

    def _field(self, field: Field, target: str) -> None:
        if field.type in FIXED_BYTES:
            self._pending.append((STRUCT_FORMAT[field.type], target))
        elif field.type == "structure":
            self._nested(field, target)
        elif field.type == "array":
            self._array(field, target)
        else:
            self._bytes_like(
                field.type, self._nullable(field), target, self._flexible_length(field)
            )

    def _nullable(self, field: Field) -> bool:
        return self._version in field.nullable

    def _flexible_length(self, field: Field) -> bool:
        # The request header keeps its client id in the old form at every version, so that a
        # broker can read it before it knows the version (KIP-482).
        return self._flexible and not (
            self._cls.__name__ == "RequestHeader" and field.name == "client_id"
        )

    def _flush(self) -> None:
        """Unpacks all pending values with one call."""
        if not self._pending:
            return
        letters = "".join(letter for letter, _ in self._pending)
        if letters == "B":
            self._out.line(f"{self._pending[0][1]} = buffer[position]")
            self._out.line("position += 1")
            self._pending.clear()
            return
        compiled = shared_struct(letters)
        unpack = self._out.constant(f"unpack_{letters}", compiled.unpack_from)
        targets = ", ".join(target for _, target in self._pending)
        comma = "," if len(self._pending) == 1 else ""
        self._out.line(f"{targets}{comma} = {unpack}(buffer, position)")
        self._out.line(f"position += {compiled.size}")
        self._pending.clear()

    def _length(self, letter: str, flexible: bool) -> str:
        """Reads a length or count; gives its variable, negative for null."""
        out = self._out
        name = out.fresh("length")
        self._pending.append(("B" if flexible else letter, name))
        self._flush()
        if flexible:
            with out.block(f"if {name} > 127:"):
                # Two bytes are read here, more are not worth the text.
                out.line("byte = buffer[position]")
                with out.block("if byte < 128:"):
                    out.line(f"{name} += (byte << 7) - 128")
                    out.line("position += 1")
                with out.block("else:"):
                    out.line(f"{name}, position = uvarint_rest(buffer, position, {name})")
                if letter == "h":
                    with out.block(f"if {name} > {MAX_STRING_BYTES + 1}:"):
                        out.line(f"raise text_too_long({name} - 1)")
            out.line(f"{name} -= 1")
        return name

    def _pay(self, cost: str) -> None:
        self._out.line(f"budget -= {cost}")
        with self._out.block("if budget < 0:"):
            self._out.line("raise too_costly()")

    def _bytes_like(self, field_type: str, nullable: bool, target: str, flexible: bool) -> None:
        out = self._out
        length = self._length("h" if field_type == "string" else "i", flexible)
        with out.block(f"if {length} > 0:"):
            out.line(f"stop = position + {length}")
            with out.block("if stop > end:"):
                out.line("raise too_short(end)")
            piece = "buffer[position:stop]"
            if field_type == "records":
                out.line(f"{target} = view[position:stop]")
            elif field_type == "data":
                self._pay(f"{length} + {DATA_COST}")
                out.line(f"{target} = {piece if self._copies else f'bytes({piece})'}")
            else:
                # Java replaces malformed characters too; a client in Latin-1 is not turned away.
                self._pay(f"{length} * {STRING_COST_PER_BYTE} + {STRING_COST}")
                if self._copies:
                    out.line(f'{target} = {piece}.decode("utf-8", "replace")')
                else:
                    out.line(f'{target} = str({piece}, "utf-8", "replace")')
            out.line("position = stop")
        with out.block(f"elif {length} == 0:"):
            out.line(f"{target} = {_EMPTY[field_type]}")
        with out.block("else:"):
            out.line(f"{target} = None" if nullable else "raise unexpected_null()")

    def _nested(self, field: Field, target: str) -> None:
        assert isinstance(field.element, type)
        cost = str(structure_cost(field.element, self._version))
        if not self._nullable(field):
            if field.tag is not None:
                self._pay(cost)
            self._out.line(f"{target} = {self._structure(field.element)}")
            return
        # Behind a tag the marker is a variable-length integer, in line it is an int8 (KIP-893).
        if field.tag is not None:
            marker = self._length("i", flexible=True)
        else:
            marker = self._out.fresh("marker")
            self._pending.append(("b", marker))
            self._flush()
        with self._out.block(f"if {marker} < 0:"):
            self._out.line(f"{target} = None")
        with self._out.block("else:"):
            self._pay(cost)
            inner = self._structure(field.element)
            self._flush()
            self._out.line(f"{target} = {inner}")

    def _array(self, field: Field, target: str) -> None:
        out = self._out
        element = field.element
        assert element is not None
        count = self._length("i", self._flexible)
        with out.block(f"if {count} < 0:"):
            out.line(f"{target} = None" if self._nullable(field) else "raise unexpected_null()")
        with out.block("else:"):
            if isinstance(element, type):
                smallest = smallest_structure(element, self._version, self._flexible)
            else:
                smallest = smallest_value(element, self._flexible)
            cost = element_cost(element, self._version)
            with out.block(f"if {count} * {max(smallest, 1)} > end - position:"):
                out.line("raise too_many()")
            self._pay(f"{LIST_COST} + {count} * {cost}")
            if isinstance(element, type):
                self._structures(element, target, count)
            elif element == "string":
                self._strings(target, count)
            elif element == "uuid":
                out.line(f"{target} = read_uuids(buffer, position, {count})")
                out.line(f"position += 16 * {count}")
            else:
                self._numbers(element, target, count)

    def _structures(self, element: type[Message], target: str, count: str) -> None:
        out = self._out
        items, add = out.fresh("items"), out.fresh("add")
        out.line(f"{target} = {items} = []")
        if is_fixed(element, self._version):
            self._fixed_structures(element, items, count)
            left = f"0 if {items} else {count}"
        else:
            left = count
        out.line(f"{add} = {items}.append")
        with out.block(f"for _ in range({left}):"):
            inner = self._structure(element)
            self._flush()
            out.line(f"{add}({inner})")

    def _fixed_structures(self, element: type[Message], items: str, count: str) -> None:
        """Decodes many structures of fixed size in one sweep.

        If one of them carries a tag after all, none stays, and the loop behind this reads them.
        """
        out = self._out
        fields = present(element, self._version)
        message = out.fresh("message")
        letters = "".join(STRUCT_FORMAT[field.type] for field in fields)
        letters += "B" if self._flexible else ""
        compiled = shared_struct(letters)
        rows = out.constant(f"rows_{letters}", compiled.iter_unpack)
        targets = [f"{message}.{field.name}" for field in fields]
        targets += ["tags"] if self._flexible else []
        with out.block(f"if {count} >= {MANY}:"):
            out.line(f"stop = position + {compiled.size} * {count}")
            cls = out.constant(element.__name__, element)
            out.line(f"{items} += map(new, repeat({cls}, {count}))")
            row = f"{message}, ({', '.join(targets)},)"
            with out.block(f"for {row} in zip({items}, {rows}(buffer[position:stop])):"):
                for field in element.fields:
                    if field not in fields:
                        out.line(f"{message}.{field.name} = {self._default(field)}")
                if self._flexible:
                    with out.block("if tags:"):
                        out.line(f"{items}.clear()")
                        out.line("break")
                elif len(fields) == len(element.fields):
                    out.line("pass")
            with out.block("else:"):
                out.line("position = stop")

    def _strings(self, target: str, count: str) -> None:
        out = self._out
        items = out.fresh("items")
        out.line(f"{target} = {items} = []")
        with out.block(f"for _ in range({count}):"):
            self._bytes_like("string", False, "text", self._flexible)
            out.line(f"{items}.append(text)")

    def _numbers(self, element: str, target: str, count: str) -> None:
        out = self._out
        if element == "int8":
            out.line(f"stop = position + {count}")
            out.line(f"{target} = list(map(int8_of, buffer[position:stop]))")
            out.line("position = stop")
            return
        letter = STRUCT_FORMAT[element]
        readers = tuple(each.unpack_from for each in small_array_structs(letter))
        small = out.constant(f"small_{letter}", readers)
        with out.block(f"if {count} < {SMALL_ARRAY}:"):
            out.line(f"{target} = list({small}[{count}](buffer, position))")
        with out.block("else:"):
            out.line(f'{target} = list(unpack_from(f">{{{count}}}{letter}", buffer, position))')
        out.line(f"position += {FIXED_BYTES[element]} * {count}")

    def _tagged_fields(self, cls: type[Message], target: str) -> None:
        """Reads the known tagged fields and steps over the others.

        A known field is bounded by its own size, so that a wrong size spoils nothing behind it.
        """
        out = self._out
        known = tagged(cls, self._version)
        count = out.fresh("tags")
        self._pending.append(("B", count))
        self._flush()
        with out.block(f"if {count}:"):
            if not known:
                out.line(f"position = skip_tags(buffer, position, end, {count})")
                return
            out.line(f"{count}, position = tag_count(buffer, position, {count})")
            stop = out.fresh("stop")
            with out.block(f"for _ in range({count}):"):
                out.line(f"tag, {stop}, position = next_tag(buffer, position, end)")
                for number, field in enumerate(known):
                    with out.block(f"{'elif' if number else 'if'} tag == {field.tag}:"):
                        self._field(field, f"{target}.{field.name}")
                        self._flush()
                        with out.block(f"if position != {stop}:"):
                            out.line(f"raise wrong_tag_size({field.tag})")
                out.line(f"position = {stop}")


# What decoders call while they run.


def _too_short(end: int) -> ProtocolError:
    return ProtocolError(f"the message goes on behind its end at byte {end}")


def _unexpected_null() -> ProtocolError:
    return ProtocolError("a field that cannot be null is null")


def _text_too_long(length: int) -> ProtocolError:
    return ProtocolError(f"a text has {length} bytes, more than {MAX_STRING_BYTES}")


def _too_many() -> ProtocolError:
    return ProtocolError("an array claims more elements than there are bytes for")


def _too_costly() -> ProtocolError:
    return ProtocolError("the message would take too much memory for its size")


def _wrong_tag_size(tag: int) -> ProtocolError:
    return ProtocolError(f"tagged field {tag} does not have the size it claims")


# A byte could cost an integer object each; all bytes share these.
_INT8 = (*range(128), *range(-128, 0))


def _read_uuids(buffer: Buffer, position: int, count: int) -> list[bytes]:
    return [bytes(buffer[at : at + 16]) for at in range(position, position + 16 * count, 16)]


_RUNTIME: dict[str, object] = {
    "StructError": struct.error,
    "int8_of": _INT8.__getitem__,
    "new": object.__new__,
    "next_tag": next_tag,
    "read_uuids": _read_uuids,
    "repeat": repeat,
    "skip_tags": skip_tags,
    "tag_count": tag_count,
    "text_too_long": _text_too_long,
    "too_costly": _too_costly,
    "too_many": _too_many,
    "too_short": _too_short,
    "unexpected_null": _unexpected_null,
    "unpack_from": struct.unpack_from,
    "uvarint_rest": decode_uvarint_rest,
    "wrong_tag_size": _wrong_tag_size,
}
