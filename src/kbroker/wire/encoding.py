"""Compiles an encoder for one message at one version.

The encoder is one function in which all structures are unrolled, as in `kbroker.wire.decoding`:
fields of fixed size that follow one another are packed together with the length or count behind
them, the pieces are collected in a list, and the list is joined when the message is complete. Only
`records` are not joined: they are parts of their own, sent from where they lie. The first part is
always bytes, so that a frame header can be put before it.

Fields that the version lacks follow Kafka's generated classes, except that responses never refuse:
- a response leaves them out;
- requests and stored structures leave them out if they are ignorable or hold their default;
- otherwise FieldNotInVersionError: without the field the message would say something else.
A tagged field is written only if it does not hold its default, in the order of the tags.
"""

import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from kbroker.wire.errors import FieldNotInVersionError
from kbroker.wire.notation import Field
from kbroker.wire.sizes import FIXED_BYTES, MAX_STRING_BYTES, has_records, is_fixed, present, tagged
from kbroker.wire.source import (
    SMALL_ARRAY,
    STRUCT_FORMAT,
    SourceWriter,
    shared_struct,
    small_array_structs,
)
from kbroker.wire.varints import encode_uvarint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kbroker.wire.message import Encoder, Message


def compile_encoder(cls: "type[Message]", version: int) -> "Encoder":
    """A function (message) -> parts, the first of them bytes."""
    return _EncoderCompiler(cls, version).compile()


class _EncoderCompiler:
    """Writes the source of one encoder.

    ``_pending`` holds the fixed-size values that wait to be packed together: a format and the
    expression of each. Whatever appends bytes of its own, or may not run, flushes them first.
    ``_chunks`` is the variable that collects pieces: a tagged field has a list of its own, because
    its size stands before it.
    """

    def __init__(self, cls: "type[Message]", version: int) -> None:
        self._cls = cls
        self._version = version
        self._flexible = version in cls.flexible_versions
        self._pending: list[tuple[str, str]] = []
        self._chunks = "chunks"
        self._out = SourceWriter(f"encode {cls.__name__} {version}", dict(_RUNTIME))

    def compile(self) -> "Encoder":
        out = self._out
        with out.block("def encode(message):"):
            out.line("chunks = []")
            out.line("add_to_chunks = chunks.append")
            separate = has_records(self._cls, self._version)
            if separate:
                out.line("parts = []")
            with out.block("try:"):
                self._structure(self._cls, "message")
                self._flush()
                out.line("last = join(chunks)")
            with out.block("except StructError as error:"):
                out.line("raise does_not_fit(message, error) from None")
            if separate:
                with out.block("if last or not parts:"):
                    out.line("parts.append(last)")
            out.line("return parts" if separate else "return [last]")
        return cast("Encoder", out.compile("encode"))

    def _add(self, expression: str) -> None:
        self._out.line(f"add_to_{self._chunks}({expression})")

    def _structure(self, cls: "type[Message]", source: str) -> None:
        """Writes the fields of a ``cls`` that the variable ``source`` holds."""
        if not self._cls.drops_unknown:
            for field in cls.fields:
                if self._version not in field.versions and not field.ignorable:
                    self._refuse_value(cls, field, f"{source}.{field.name}")
        for field in present(cls, self._version):
            self._field(field, f"{source}.{field.name}")
        if self._flexible:
            self._tagged_fields(tagged(cls, self._version), source)

    def _refuse_value(self, cls: "type[Message]", field: Field, value: str) -> None:
        place = f"{cls.__name__}.{field.name}"
        with self._out.block(f"if {self._differs(field, value)}:"):
            self._out.line(f"raise not_in_version({place!r}, {self._version})")

    def _differs(self, field: Field, value: str) -> str:
        """A condition: the field holds something else than its default."""
        if isinstance(field.default, list):
            return f"{value} is None or {value}" if field.nullable else value
        if field.type == "structure":
            assert isinstance(field.element, type)
            if field.nullable and field.tag is None:
                return f"{value} is not None"
            element = field.element
            default = self._out.constant(f"default_{element.__name__}", element())
            # One full of defaults is as good as absent. In Kafka this is so even for a tagged
            # structure that can be null: its null is written.
            unlike = f"{value} != {default}"
            null_is_written = field.tag is None or self._version in field.nullable
            return unlike if null_is_written else f"{value} and {unlike}"
        if field.default is None:
            return f"{value} is not None"
        return f"{value} != {field.default!r}"

    def _field(self, field: Field, value: str) -> None:
        if field.type in FIXED_BYTES:
            self._pending.append((STRUCT_FORMAT[field.type], value))
        elif field.type == "structure":
            self._nested(field, value)
        elif field.type == "array":
            self._array(field, value)
        else:
            self._bytes_like(field, value)

    def _flush(self) -> None:
        """Packs all pending values with one call; constants need none."""
        if self._pending:
            self._add(self._packed())
            self._pending.clear()

    def _packed(self, extra: tuple[str, str] | None = None) -> str:
        """The expression that packs the pending values and ``extra``."""
        values = [*self._pending, extra] if extra else self._pending
        letters = "".join(letter for letter, _ in values)
        packer = shared_struct(letters)
        if all(value.lstrip("-").isdigit() for _, value in values):
            return repr(packer.pack(*(int(value) for _, value in values)))
        pack = self._out.constant(f"pack_{letters}", packer.pack)
        return f"{pack}({', '.join(value for _, value in values)})"

    def _length(self, letter: str, length: str, flexible: bool) -> None:
        """Writes a length or count with what is pending; in flexible form it is one too high."""
        out = self._out
        if not flexible:
            self._pending.append((letter, length))
            self._flush()
            return
        with out.block(f"if {length} < 128:"):
            self._add(self._packed(("B", length)))
        with out.block("else:"):
            if self._pending:
                self._add(self._packed())
            self._add(f"uvarint({length})")
        self._pending.clear()

    def _missing(self, field: Field, length: str, flexible: bool) -> None:
        """The branch for null: a length that says so, or an error in versions without null."""
        if self._version in field.nullable:
            self._out.line(f"{length} = {0 if flexible else -1}")
        else:
            self._out.line(f"raise null_not_in_version({field.name!r}, {self._version})")

    def _bytes_like(self, field: Field, value: str) -> None:
        out = self._out
        # The request header keeps its client id in the old form at every version, so that a
        # broker can read it before it knows the version (KIP-482).
        flexible = self._flexible and not (
            self._cls.__name__ == "RequestHeader" and field.name == "client_id"
        )
        content, length = out.fresh("content"), out.fresh("length")
        measure = f"{length} = len({content})" + (" + 1" if flexible else "")
        if field.nullable:
            out.line(f"{content} = {value}")
            with out.block(f"if {content} is None:"):
                self._missing(field, length, flexible)
            with out.block("else:"):
                if field.type == "string":
                    out.line(f"{content} = {content}.encode()")
                out.line(measure)
        else:
            out.line(f"{content} = {value}" + (".encode()" if field.type == "string" else ""))
            out.line(measure)
        self._length("h" if field.type == "string" else "i", length, flexible)
        if field.type == "string" and flexible:
            with out.block(f"if {length} > {MAX_STRING_BYTES + 1}:"):
                out.line(f"raise text_too_long({field.name!r}, {length} - 1)")
        with out.block(f"if {content}:"):
            if field.type == "records":
                assert self._chunks == "chunks", "Kafka knows no tagged records"
                out.line("parts.append(join(chunks))")
                out.line("chunks.clear()")
                out.line(f"parts.append({content})")
            else:
                self._add(content)

    def _nested(self, field: Field, value: str) -> None:
        out = self._out
        assert isinstance(field.element, type)
        source = out.fresh("structure")
        out.line(f"{source} = {value}")
        if not field.nullable:
            self._structure(field.element, source)
            return
        if self._version not in field.nullable:
            with out.block(f"if {source} is None:"):
                out.line(f"raise null_not_in_version({field.name!r}, {self._version})")
            self._structure(field.element, source)
            return
        # Behind a tag the marker is a variable-length integer, in line it is an int8 (KIP-893).
        with out.block(f"if {source} is None:"):
            self._add(self._packed(("b", "-1" if field.tag is None else "0")))
        with out.block("else:"):
            self._pending.append(("b", "1"))
            self._structure(field.element, source)
            self._flush()

    def _array(self, field: Field, value: str) -> None:
        out = self._out
        items, count = out.fresh("items"), out.fresh("count")
        out.line(f"{items} = {value}")
        measure = f"{count} = len({items})" + (" + 1" if self._flexible else "")
        if field.nullable:
            with out.block(f"if {items} is None:"):
                self._missing(field, count, self._flexible)
                if self._version in field.nullable:
                    out.line(f"{items} = ()")
            with out.block("else:"):
                out.line(measure)
        else:
            out.line(measure)
        element = field.element
        if not isinstance(element, type) and element not in ("string", "uuid"):
            assert element is not None
            self._numbers(STRUCT_FORMAT[element], items, count)
            return
        self._length("i", count, self._flexible)
        if isinstance(element, type):
            self._structures(element, items)
        elif element == "string":
            self._strings(field, items)
        else:
            self._add(f"join({items})")

    def _structures(self, element: "type[Message]", items: str) -> None:
        source = self._out.fresh("item")
        checks = [field for field in element.fields if self._version not in field.versions]
        if is_fixed(element, self._version) and (self._cls.drops_unknown or not checks):
            self._structure(element, source)
            self._out.line(f"{self._chunks} += [{self._packed()} for {source} in {items}]")
            self._pending.clear()
            return
        with self._out.block(f"for {source} in {items}:"):
            self._structure(element, source)
            self._flush()

    def _strings(self, field: Field, items: str) -> None:
        out = self._out
        with out.block(f"for text in {items}:"):
            out.line("text = text.encode()")
            out.line("length = len(text)" + (" + 1" if self._flexible else ""))
            self._length("h", "length", self._flexible)
            if self._flexible:
                with out.block(f"if length > {MAX_STRING_BYTES + 1}:"):
                    out.line(f"raise text_too_long({field.name!r}, length - 1)")
            self._add("text")

    def _numbers(self, letter: str, items: str, count: str) -> None:
        """Packs a short array with its count and with what was pending, all in one call."""
        out = self._out
        prefix = "".join(letter for letter, _ in self._pending) + ("B" if self._flexible else "i")
        packers = tuple(each.pack for each in small_array_structs(letter, prefix))
        small = out.constant(f"small_{prefix}_{letter}", packers)
        values = "".join(f"{value}, " for _, value in self._pending)
        before = list(self._pending)
        # A null array has a count that no array of its length has, so the items are counted anew.
        with out.block(f"if len({items}) < {SMALL_ARRAY}:"):
            self._add(f"{small}[len({items})]({values}{count}, *{items})")
        with out.block("else:"):
            self._pending = before
            self._length("i", count, self._flexible)
            self._add(f'pack(f">{{len({items})}}{letter}", *{items})')

    def _tagged_fields(self, known: list[Field], source: str) -> None:
        if not known:
            self._pending.append(("B", "0"))
            return
        out = self._out
        conditions = [self._differs(field, f"{source}.{field.name}") for field in known]
        with out.block(f"if {' or '.join(f'({each})' for each in conditions)}:"):
            waiting = list(self._pending)
            self._flush()
            written = out.fresh("written")
            out.line(f"{written} = []")
            for field, condition in zip(known, conditions, strict=True):
                with out.block(f"if {condition}:"), self._own_chunks() as chunks:
                    self._field(field, f"{source}.{field.name}")
                    self._flush()
                    out.line(f"value = join({chunks})")
                    tag = encode_uvarint(field.tag or 0)
                    out.line(f"{written}.append({tag!r} + uvarint(len(value)) + value)")
            self._add(f"uvarint(len({written})) + join({written})")
        with out.block("else:"):
            self._pending = [*waiting, ("B", "0")]
            self._flush()

    @contextmanager
    def _own_chunks(self) -> "Iterator[str]":
        """What is written inside goes to a list of its own, whose name this gives."""
        outer, self._chunks = self._chunks, self._out.fresh("chunks")
        self._out.line(f"{self._chunks} = []")
        self._out.line(f"add_to_{self._chunks} = {self._chunks}.append")
        yield self._chunks
        self._chunks = outer


# What encoders call while they run.


def _does_not_fit(message: "Message", error: struct.error) -> ValueError:
    return ValueError(f"a value of {type(message).__name__} does not fit its field: {error}")


def _not_in_version(field: str, version: int) -> FieldNotInVersionError:
    return FieldNotInVersionError(f"version {version} has no field for the value of {field}")


def _null_not_in_version(field: str, version: int) -> FieldNotInVersionError:
    return FieldNotInVersionError(f"{field} cannot be null in version {version}")


def _text_too_long(field: str, length: int) -> ValueError:
    return ValueError(f"{field} has {length} bytes, more than {MAX_STRING_BYTES}")


_RUNTIME: dict[str, object] = {
    "StructError": struct.error,
    "does_not_fit": _does_not_fit,
    "join": b"".join,
    "not_in_version": _not_in_version,
    "null_not_in_version": _null_not_in_version,
    "pack": struct.pack,
    "text_too_long": _text_too_long,
    "uvarint": encode_uvarint,
}
