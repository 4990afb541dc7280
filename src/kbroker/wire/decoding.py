"""Compiles a decoder for one message at one version.

The decoder is one function in which all structures are unrolled: fields of fixed size that follow
one another are unpacked together, the length or count behind them included, and loops run without
a call per element. Arrays of structures of fixed size, such as the partitions of a Fetch request,
are left as they are until somebody looks at them, and then unpacked in one sweep.

Safety (INVARIANTS 5). A count is compared with what its elements take at least, and the elements
are paid for out of a budget, see `kbroker.wire.sizes`. The position only ever grows, and is
compared with the end when all is read: most messages are decoded from a copy that ends where they
end, so that a length that lies finds nothing. Where there is no copy, a length is compared before
it is used; a few fixed fields may still be read from the next frame, and are thrown away with the
message.

Each decoder has a careful twin, compiled when it is first needed. It replaces bytes that are not
UTF-8, and pays the exact price. The usual one does neither: it pays an estimate, and when that
exceeds the budget, or a text is strange, it forgets all and has its twin start anew.
"""

from functools import cache
from typing import cast

from kbroker.wire.message import Decoder, Message
from kbroker.wire.notation import Field
from kbroker.wire.reading import RUNTIME
from kbroker.wire.sizes import (
    COPY_COST_PER_BYTE,
    COST_ALLOWANCE,
    DATA_COST,
    FIXED_BYTES,
    GROWING_LIST_COST,
    LIST_COST,
    LIST_PLACE_COST,
    TEXT_COST_PER_BYTE,
    UNREAD_COST,
    VALUE_COST,
    careful_number_cost,
    cost_per_byte,
    estimated_element_cost,
    has_default_structure,
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
from kbroker.wire.unread import Filler, UnreadStructures

# From this many structures of fixed size on, putting off their reading is worth its preparation.
MANY = 4


# What a number costs, by its format.
NUMBER_COST = {
    STRUCT_FORMAT[name]: VALUE_COST[name] for name in ("int8", "int16", "uint16", "int32", "int64")
}

_EMPTY = {"string": "''", "data": "b''", "records": "view[:0]"}


def compile_decoder(cls: type[Message], version: int) -> Decoder:
    """A function (buffer, position, end) -> (message, position behind it)."""
    return _DecoderCompiler(cls, version, careful=False).compile()


@cache
def careful_decoder(cls: type[Message], version: int) -> Decoder:
    """The same, exact in what it counts and patient with texts, and half as fast."""
    return _DecoderCompiler(cls, version, careful=True).compile()


@cache
def filler(cls: type[Message], version: int, size: int) -> Filler:
    """A function that makes the structures of ``size`` bytes which stand in a buffer."""
    out = SourceWriter(f"read {cls.__name__} {version}", dict(RUNTIME))
    fields = present(cls, version)
    letters = "".join(STRUCT_FORMAT[field.type] for field in fields)
    letters += "x" if shared_struct(letters).size < size else ""  # the count of tags, which is 0
    compiled = shared_struct(letters)
    assert compiled.size == size
    rows = out.constant("rows", compiled.iter_unpack)
    targets = "".join(f"message.{field.name}, " for field in fields)
    with out.block("def fill(items, data, count):"):
        out.line(f"items.extend(map(new, repeat({out.constant(cls.__name__, cls)}, count)))")
        with out.block(f"for message, ({targets}) in zip(items, {rows}(data)):"):
            for field in cls.fields:
                if field not in fields:
                    out.line(f"message.{field.name} = {default(out, field, version)}")
            out.line("pass")
    return cast(Filler, out.compile("fill"))


def default(out: SourceWriter, field: Field, version: int) -> str:
    """What a field is that its message does not carry."""
    if isinstance(field.default, list):
        return "NO_ELEMENTS"
    if field.type == "structure" and has_default_structure(field, version):
        assert isinstance(field.element, type)
        return out.constant(field.element.__name__, field.element) + "()"
    return repr(field.default)


class _DecoderCompiler:
    """Writes the source of one decoder.

    ``_pending`` holds the fixed-size values that wait to be unpacked together: a format and the
    target each is assigned to. Whatever needs their values, or moves the position, flushes first.
    """

    def __init__(self, cls: type[Message], version: int, careful: bool) -> None:
        self._cls = cls
        self._version = version
        self._flexible = version in cls.flexible_versions
        self._careful = careful
        # Slices of bytes are so much faster than those of other buffers that a copy pays. Record
        # batches are not copied: a message that may hold some is read where it lies. So is one
        # that is read with care, because a copy would have to be paid for.
        self._copies = not careful and not has_records(cls, version)
        self._pending: list[tuple[str, str]] = []
        # The variables of messages and lists, which keep what is decoded alive.
        self._holders: list[str] = []
        name = "decode carefully" if careful else "decode"
        self._out = SourceWriter(f"{name} {cls.__name__} {version}", dict(RUNTIME))

    def compile(self) -> Decoder:
        out = self._out
        with out.block("def decode(buffer, position, end):"):
            out.line("whole, base, last = buffer, position, end")
            with out.block("try:"):
                self._start()
                root = self._structure(self._cls)
                self._flush()
                with out.block("if position > end:"):
                    out.line("raise too_short(end)")
                out.line(f"return {root}, position" + (" + base" if self._copies else ""))
            with out.block("except (IndexError, StructError):"):
                out.line("raise too_short(end) from None")
            if not self._careful:
                with out.block("except (CostlyError, UnicodeDecodeError):"):
                    out.line(f"buffer = {' = '.join(self._holders)} = None")
                cls = out.constant(self._cls.__name__, self._cls)
                careful = out.constant("careful_decoder", careful_decoder)
                out.line(f"return {careful}({cls}, {self._version})(whole, base, last)")
        return cast(Decoder, out.compile("decode"))

    def _start(self) -> None:
        out = self._out
        per_byte = cost_per_byte(self._cls, self._version, self._flexible)
        if self._copies:
            per_byte -= COPY_COST_PER_BYTE
            out.line("buffer = bytes(buffer[position:end])")
            out.line("position = 0")
            out.line("end = len(buffer)")
        else:
            out.line("view = memoryview(buffer)")
            if not self._careful:
                # A view cannot be decoded as bytes and bytearrays can; nobody sends us one.
                with out.block("if type(buffer) is memoryview:"):
                    out.line("raise CostlyError")
        if not self._careful:
            per_byte -= TEXT_COST_PER_BYTE
        fixed = COST_ALLOWANCE - structure_cost(self._cls, self._version, self._careful)
        size = "end" if self._copies else "(end - position)"
        out.line(f"budget = {per_byte} * {size} + {fixed}")

    def _structure(self, cls: type[Message]) -> str:
        """Decodes a ``cls`` into a new object; gives the name of its variable."""
        out = self._out
        target = self._holder("message")
        out.line(f"{target} = new({out.constant(cls.__name__, cls)})")
        for field in cls.fields:
            if field.tag is not None or self._version not in field.versions:
                out.line(f"{target}.{field.name} = {default(out, field, self._version)}")
        for field in present(cls, self._version):
            self._field(field, f"{target}.{field.name}")
        if self._flexible:
            self._tagged_fields(cls, target)
        return target

    def _holder(self, prefix: str) -> str:
        name = self._out.fresh(prefix)
        self._holders.append(name)
        return name

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

    def _flush(self, stay: bool = False) -> None:
        """Unpacks all pending values with one call; may stay at the last one, which is a byte."""
        if not self._pending:
            return
        out = self._out
        letters = "".join(letter for letter, _ in self._pending)
        compiled = shared_struct(letters)
        if letters == "B":
            out.line(f"{self._pending[0][1]} = buffer[position]")
        else:
            unpack = out.constant(f"unpack_{letters}", compiled.unpack_from)
            targets = ", ".join(target for _, target in self._pending)
            comma = "," if len(self._pending) == 1 else ""
            out.line(f"{targets}{comma} = {unpack}(buffer, position)")
        moved = compiled.size - (1 if stay else 0)
        if moved:
            out.line(f"position += {moved}")
        if self._careful:
            self._pay_for_numbers()
        self._pending.clear()

    def _pay_for_numbers(self) -> None:
        """Pays for the pending values that are kept, except for those that CPython shares."""
        out = self._out
        kept = [pair for pair in self._pending if pair[0] in NUMBER_COST and "." in pair[1]]
        for letter, target in kept:
            with out.block(f"if not -6 < {target} < 257:"):
                out.line(f"budget -= {NUMBER_COST[letter]}")
        if kept:
            self._check_budget()

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
            out.line(f"{name} -= 1")
        return name

    def _pay(self, cost: str) -> None:
        self._out.line(f"budget -= {cost}")
        self._check_budget()

    def _check_budget(self) -> None:
        with self._out.block("if budget < 0:"):
            self._out.line("raise too_costly()" if self._careful else "raise CostlyError")

    def _bytes_like(self, field_type: str, nullable: bool, target: str, flexible: bool) -> None:
        if flexible and field_type != "records":
            self._compact_bytes(field_type, nullable, target)
            return
        out = self._out
        length = self._length("h" if field_type == "string" else "i", flexible)
        with out.block(f"if {length} > 0:"):
            out.line(f"stop = position + {length}")
            self._check_stop()
            self._piece(field_type, target, "position")
        with out.block(f"elif {length} == 0:"):
            out.line(f"{target} = {_EMPTY[field_type]}")
        with out.block("else:"):
            out.line(f"{target} = None" if nullable else "raise unexpected_null()")

    def _compact_bytes(self, field_type: str, nullable: bool, target: str) -> None:
        """Reads a text or byte string whose length takes one byte; longer ones take a call.

        The length is one more than it says, and so is the distance from its own byte to the end.
        """
        out = self._out
        length = out.fresh("length")
        self._pending.append(("B", length))
        self._flush(stay=True)
        with out.block(f"if 1 < {length} < 128:"):
            out.line(f"stop = position + {length}")
            self._check_stop()
            self._piece(field_type, target, "position + 1")
        with out.block(f"elif {length} == 1:"):
            out.line(f"{target} = {_EMPTY[field_type]}")
            out.line("position += 1")
        if nullable:
            with out.block(f"elif {length} == 0:"):
                out.line(f"{target} = None")
                out.line("position += 1")
        with out.block("else:"):
            read = "read_long_text" if field_type == "string" else "read_long_data"
            out.line(f"position, stop = {read}(buffer, position, end)")
            self._piece(field_type, target, "position")

    def _check_stop(self) -> None:
        if not self._copies:
            with self._out.block("if stop > end:"):
                self._out.line("raise too_short(end)")

    def _piece(self, field_type: str, target: str, start: str) -> None:
        """Makes a value of what lies between ``start`` and ``stop``."""
        out = self._out
        if field_type == "records":
            out.line(f"{target} = view[{start}:stop]")
        elif field_type == "data":
            if self._careful:
                self._pay(f"stop - position + {DATA_COST}")
            piece = f"[{start}:stop]"
            out.line(f"{target} = " + (f"buffer{piece}" if self._copies else f"bytes(view{piece})"))
        elif self._careful:
            out.line(f"{target}, budget = careful_text(buffer, {start}, stop, budget)")
        else:
            out.line(f"{target} = buffer[{start}:stop].decode()")
        out.line("position = stop")

    def _nested(self, field: Field, target: str) -> None:
        assert isinstance(field.element, type)
        cost = str(structure_cost(field.element, self._version, self._careful))
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
        with out.block(f"if {count} > 0:"):
            if isinstance(element, type):
                smallest = smallest_structure(element, self._version, self._flexible)
            else:
                smallest = smallest_value(element, self._flexible)
            with out.block(f"if {count} * {max(smallest, 1)} > end - position:"):
                out.line("raise too_many()")
            if not self._careful:
                cost = estimated_element_cost(element, self._version, self._flexible)
                once = GROWING_LIST_COST
                if isinstance(element, type) and is_fixed(element, self._version):
                    once += UNREAD_COST
                self._pay(f"{once} + {count} * {cost}")
            if isinstance(element, type):
                self._structures(element, target, count)
            elif element == "string":
                self._strings(target, count)
            else:
                self._numbers(element, target, count)
        with out.block(f"elif {count} == 0:"):
            out.line(f"{target} = NO_ELEMENTS")
        with out.block("else:"):
            out.line(f"{target} = None" if self._nullable(field) else "raise unexpected_null()")

    def _list(self, target: str, count: str, cost: int) -> str:
        """Starts a list of ``count`` places; gives its variable."""
        if self._careful:
            self._pay(f"{LIST_COST} + {count} * {LIST_PLACE_COST + cost}")
        items = self._holder("items")
        self._out.line(f"{target} = {items} = [None] * {count}")
        return items

    def _structures(self, element: type[Message], target: str, count: str) -> None:
        if self._careful or not is_fixed(element, self._version):
            self._each_structure(element, target, count)
            return
        out = self._out
        size = smallest_structure(element, self._version, self._flexible)
        unread = out.constant("UnreadStructures", UnreadStructures)
        fill = out.constant(f"fill_{element.__name__}", filler(element, self._version, size))
        condition = f"{count} >= {MANY}"
        if self._flexible:
            # A tag that somebody sent after all shifts what is behind it.
            condition += f" and buffer[position + {size - 1} : stop : {size}].count(0) == {count}"
        out.line(f"stop = position + {size} * {count}")
        with out.block(f"if {condition}:"):
            out.line(f"{target} = {unread}({fill}, buffer[position:stop], {count})")
            out.line("position = stop")
        with out.block("else:"):
            self._each_structure(element, target, count)

    def _each_structure(self, element: type[Message], target: str, count: str) -> None:
        out = self._out
        cost = structure_cost(element, self._version, self._careful)
        items, index = self._list(target, count, cost), out.fresh("index")
        with out.block(f"for {index} in range({count}):"):
            inner = self._structure(element)
            self._flush()
            out.line(f"{items}[{index}] = {inner}")

    def _strings(self, target: str, count: str) -> None:
        items, index = self._list(target, count, cost=0), self._out.fresh("index")
        with self._out.block(f"for {index} in range({count}):"):
            self._bytes_like("string", False, f"{items}[{index}]", self._flexible)

    def _numbers(self, element: str, target: str, count: str) -> None:
        out = self._out
        if self._careful:
            # The dearest numbers must fit; paid for are those that came.
            most = LIST_PLACE_COST + careful_number_cost(element)
            with out.block(f"if budget < {GROWING_LIST_COST} + {count} * {most}:"):
                out.line("raise too_costly()")
        if element == "int8":
            out.line(f"{target} = list(map(int8_of, buffer[position : position + {count}]))")
        elif element == "uuid":
            out.line(f"{target} = read_uuids(buffer, position, {count})")
        else:
            letter = STRUCT_FORMAT[element]
            readers = tuple(each.unpack_from for each in small_array_structs(letter))
            small = out.constant(f"small_{letter}", readers)
            with out.block(f"if {count} < {SMALL_ARRAY}:"):
                out.line(f"{target} = list({small}[{count}](buffer, position))")
            with out.block("else:"):
                out.line(f'{target} = list(unpack_from(f">{{{count}}}{letter}", buffer, position))')
        if self._careful:
            if element in ("int8", "uuid"):
                out.line(f"budget -= {GROWING_LIST_COST} + {count} * {most}")
            else:
                out.line(f"budget -= numbers_cost({target})")
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
