"""The smallest wire size and the memory cost of a structure at one version.

The first lets a decoder refuse a count before it allocates anything: no array has more elements
than fit into the bytes that are left. The second bounds what is left to amplify, because an
element of three bytes can become an object of a hundred: a decoder pays for every element out of
a budget that grows with the frame.

There are two prices. The estimate is known when a decoder is compiled: it takes every number for
a large one and every text for one of emoji, so that nothing is counted while values are read. What
it cannot pay for is decoded again with care, at the price of what CPython really allocates.
"""

from kbroker.wire.message import Message
from kbroker.wire.notation import Field, FieldType

FIXED_BYTES: dict[str, int] = {
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "int64": 8,
    "float64": 8,
    "boolean": 1,
    "uuid": 16,
}

# Lengths of texts are 16-bit numbers, and stay so where they are written as variable-length ones.
MAX_STRING_BYTES = 32767

# What CPython allocates for one value at most; it shares booleans, and integers only from -5 to
# 256. An integer is allocated with room for sixty bits, whatever `sys.getsizeof` says. A text with
# one letter outside the Basic Multilingual Plane takes four bytes for every letter, and 76 beside
# them.
VALUE_COST: dict[str, int] = {
    "int8": 32,
    "boolean": 0,
    "int16": 32,
    "uint16": 32,
    "int32": 32,
    "int64": 36,
    "float64": 24,
    "uuid": 49,
    "records": 184,
    "string": 76,
    "data": 33,
}
# These alone are paid for before they are read when decoding with care.
_CAREFUL_VALUES = ("float64", "uuid", "records")
DATA_COST = 33

# Header and garbage-collector header of an object, and its slots.
_OBJECT_COST = 32
_SLOT_COST = 8
# A list that is made as long as it will be; and one that grows, which has room for an eighth more
# elements and six.
LIST_PLACE_COST = 8
LIST_COST = 56
GROWING_LIST_COST = 112
# What an array that is not read yet takes beside: three slots, and the head of the bytes it keeps.
UNREAD_COST = 57

# INVARIANTS 5: decoding allocates at most 16 bytes for a byte received, and 64 KiB whatever was
# received. A decoder keeps some of it for what it works with, slices, tuples, an exception; up to
# 3 KiB were seen.
COST_PER_BYTE = 16
COST_ALLOWANCE = 59 * 1024
# A partition of an OffsetDelete is one number of four bytes and becomes 80. Nothing else in the
# protocol is so dense, and no honest request would pass at 16 bytes a byte.
DENSE_COST_PER_BYTE = 20

# The copy that decoders of messages without records work on.
COPY_COST_PER_BYTE = 1
# The dearest text, four bytes a byte; while it is decoded there are its bytes and a copy in half
# the width. An estimate sets this aside for every byte of a frame, and gives it back for those
# that cannot be part of a text.
TEXT_COST_PER_BYTE = 7
# A text that is decoded with care must find so much; it pays what it takes.
CAREFUL_TEXT_COST_PER_BYTE = 8


def present(cls: type[Message], version: int) -> list[Field]:
    """The fields of ``cls`` that stand in line at ``version``: present and without a tag."""
    return [field for field in cls.fields if version in field.versions and field.tag is None]


def tagged(cls: type[Message], version: int) -> list[Field]:
    """The fields of ``cls`` that may follow with a tag at ``version``, by tag."""
    found = [field for field in cls.fields if version in field.versions and field.tag is not None]
    return sorted(found, key=lambda field: field.tag or 0)


def is_fixed(cls: type[Message], version: int) -> bool:
    """Whether every ``cls`` without unknown tags takes the same number of bytes at ``version``."""
    fields = present(cls, version)
    fixed = all(field.type in FIXED_BYTES for field in fields)
    return bool(fields) and fixed and not tagged(cls, version)


def has_records(cls: type[Message], version: int) -> bool:
    """Whether record batches may occur in ``cls`` at ``version``."""
    return any(
        field.type == "records"
        or (isinstance(field.element, type) and has_records(field.element, version))
        for field in cls.fields
        if version in field.versions
    )


def smallest_field(field: Field, version: int, flexible: bool) -> int:
    """The fewest bytes ``field`` takes at ``version``."""
    if field.type == "structure":
        if version in field.nullable:
            return 1
        assert isinstance(field.element, type)
        return smallest_structure(field.element, version, flexible)
    return smallest_value(field.type, flexible)


def smallest_value(field_type: FieldType, flexible: bool) -> int:
    """The fewest bytes a value of ``field_type`` takes."""
    if field_type in FIXED_BYTES:
        return FIXED_BYTES[field_type]
    if flexible:
        return 1
    return 2 if field_type == "string" else 4


def smallest_structure(cls: type[Message], version: int, flexible: bool) -> int:
    """The fewest bytes a ``cls`` takes at ``version``."""
    inline = sum(smallest_field(field, version, flexible) for field in present(cls, version))
    return inline + (1 if flexible else 0)


def estimated_element_cost(
    element: "type[Message] | FieldType", version: int, flexible: bool
) -> int:
    """What one more element of an array costs at most, without the arrays inside it.

    Less the price of the texts that its bytes cannot be. Never less than its place in the list: a
    count is only known to be a lie when the bytes run out.
    """
    if isinstance(element, type):
        smallest = smallest_structure(element, version, flexible)
        cost = structure_cost(element, version, careful=False)
        if is_fixed(element, version):
            cost += smallest + 2  # the bytes it is read from, and its part of a list that grows
    else:
        smallest = smallest_value(element, flexible)
        # Numbers are unpacked into a tuple before they become a list: two places.
        cost = careful_number_cost(element) if element in FIXED_BYTES else VALUE_COST[element]
    return LIST_PLACE_COST + max(cost - TEXT_COST_PER_BYTE * smallest, 0)


def careful_number_cost(element: str) -> int:
    """What one more number in an array costs at most, beside its place in the list."""
    # Decoders share those of one byte.
    return LIST_PLACE_COST + (0 if element == "int8" else VALUE_COST[element])


def structure_cost(cls: type[Message], version: int, careful: bool) -> int:
    """What one ``cls`` costs: its slots, and the values that its version has.

    Without arrays, and without the structures that may be absent; decoders pay for those when
    they come. With care, also without numbers and texts.
    """
    cost = _OBJECT_COST + _SLOT_COST * len(cls.fields)
    for field in cls.fields:
        if field.type == "structure":
            assert isinstance(field.element, type)
            if has_default_structure(field, version):
                cost += _default_cost(field.element)
            elif field.tag is None and version in field.versions and version not in field.nullable:
                cost += structure_cost(field.element, version, careful)
        elif version in field.versions and (not careful or field.type in _CAREFUL_VALUES):
            cost += VALUE_COST.get(field.type, 0)
    return cost


def has_default_structure(field: Field, version: int) -> bool:
    """Whether a message of ``version`` starts with a structure of defaults in ``field``.

    A structure in line that cannot be null is there. So is a tagged one that can: Kafka writes
    its null, and leaves out the structure full of defaults.
    """
    if field.tag is not None:
        return version in field.nullable
    return version not in field.versions and not field.nullable


def _default_cost(cls: type[Message]) -> int:
    """What a ``cls`` costs that was made without arguments."""
    cost = _OBJECT_COST + _SLOT_COST * len(cls.fields)
    for field in cls.fields:
        if isinstance(field.default, list):
            cost += LIST_COST
        elif field.type == "structure" and not field.nullable and field.tag is None:
            assert isinstance(field.element, type)
            cost += _default_cost(field.element)
    return cost


def cost_per_byte(cls: type[Message], version: int, flexible: bool) -> int:
    """What decoding ``cls`` may allocate for a byte received."""
    return DENSE_COST_PER_BYTE if _is_dense(cls, version, flexible) else COST_PER_BYTE


def _is_dense(cls: type[Message], version: int, flexible: bool) -> bool:
    """Whether ``cls`` holds an array of structures that are one number of four bytes each."""
    return any(
        version in field.versions
        and isinstance(field.element, type)
        and (
            (is_fixed(field.element, version) and _is_number(field.element, version, flexible))
            or _is_dense(field.element, version, flexible)
        )
        for field in cls.fields
    )


def _is_number(cls: type[Message], version: int, flexible: bool) -> bool:
    return len(present(cls, version)) == 1 and smallest_structure(cls, version, flexible) == 4
