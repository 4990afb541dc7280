"""The clear encoder: one call per field, no compiling. What the compiled ones are compared with.

It also notes where it wrote a length or a count, which is where a hostile client lies.
"""

import struct
from dataclasses import dataclass

from kbroker.wire.message import Message
from kbroker.wire.notation import Field
from kbroker.wire.source import STRUCT_FORMAT


@dataclass(frozen=True)
class Mark:
    """A length or count at ``start``, until ``stop``; ``form`` is a struct letter or "uvarint"."""

    start: int
    stop: int
    form: str
    value: int


def uvarint(number: int) -> bytes:
    out = bytearray()
    while True:
        byte, number = number & 0x7F, number >> 7
        out.append(byte | (0x80 if number else 0))
        if not number:
            return bytes(out)


class ReferenceEncoder:
    """Writes one message; ``marks`` are valid for the bytes it gives."""

    def __init__(self, cls: type[Message], version: int) -> None:
        self.cls = cls
        self.version = version
        self.flexible = version in cls.flexible_versions
        self.out = bytearray()
        self.marks: list[Mark] = []

    def encode(self, message: Message) -> bytes:
        self.structure(message)
        return bytes(self.out)

    def length(self, form: str, value: int) -> None:
        start = len(self.out)
        self.out += uvarint(value) if form == "uvarint" else struct.pack(">" + form, value)
        self.marks.append(Mark(start, len(self.out), form, value))

    def structure(self, message: Message) -> None:
        tagged = []
        for field in message.fields:
            value = getattr(message, field.name)
            if self.version not in field.versions:
                continue
            if field.tag is not None:
                tagged.append((field.tag, field, value))
            else:
                self.field(field, value)
        if self.flexible:
            written = [each for each in sorted(tagged, key=lambda each: each[0]) if differs(each)]
            self.length("uvarint", len(written))
            for tag, field, value in written:
                inner = ReferenceEncoder(self.cls, self.version)
                inner.field(field, value)
                self.out += uvarint(tag)
                self.length("uvarint", len(inner.out))
                self.marks += [
                    Mark(
                        mark.start + len(self.out), mark.stop + len(self.out), mark.form, mark.value
                    )
                    for mark in inner.marks
                ]
                self.out += inner.out

    def field(self, field: Field, value: object) -> None:
        if field.type in STRUCT_FORMAT:
            self.out += struct.pack(">" + STRUCT_FORMAT[field.type], value)
        elif field.type == "structure":
            if self.version in field.nullable:
                null = 255 if field.tag is None else 0
                self.out.append(null if value is None else 1)
            if value is not None:
                self.structure(value)
        elif field.type == "array":
            self.array(field, value)
        else:
            old_form = self.cls.__name__ == "RequestHeader"
            self.blob(field.type, value, self.flexible and not old_form)

    def blob(self, field_type: str, value: object, flexible: bool) -> None:
        content = value.encode() if isinstance(value, str) else value
        if flexible:
            self.length("uvarint", 0 if content is None else len(content) + 1)
        else:
            form = "h" if field_type == "string" else "i"
            self.length(form, -1 if content is None else len(content))
        self.out += content or b""

    def array(self, field: Field, values: list[object] | None) -> None:
        count = -1 if values is None else len(values)
        if self.flexible:
            self.length("uvarint", count + 1)
        else:
            self.length("i", count)
        for value in values or ():
            if isinstance(field.element, type):
                self.structure(value)
            elif field.element == "string":
                self.blob("string", value, self.flexible)
            else:
                self.out += struct.pack(">" + STRUCT_FORMAT[field.element or ""], value)


def differs(tagged: tuple[int, Field, object]) -> bool:
    """Whether a tagged field is written."""
    _, field, value = tagged
    if field.type == "structure":
        assert isinstance(field.element, type)
        absent = value is None and not field.nullable
        return not absent and value != field.element()
    return value != field.default
