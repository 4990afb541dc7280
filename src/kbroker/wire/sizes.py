"""The smallest wire size and the memory cost of a structure at one version.

The first lets a decoder refuse a count before it allocates anything: no array has more elements
than fit into the bytes that are left. The second bounds what is left to amplify, because an
element of three bytes can become an object of a hundred: a decoder pays for every element out of
a budget that grows with the frame.
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

# What CPython allocates for one value; it shares booleans, and integers only from -5 to 256. Texts
# and byte strings are paid for when they come, because most are empty.
_VALUE_COST: dict[str, int] = {
    "int8": 28,
    "boolean": 0,
    "int16": 28,
    "uint16": 28,
    "int32": 28,
    "int64": 32,
    "float64": 24,
    "uuid": 49,
    "records": 184,
}

# A text with one letter outside the Basic Multilingual Plane takes four bytes for every letter,
# and this much beside them; so does, nearly, one of bytes that are not UTF-8. A byte string is
# paid for by its length.
STRING_COST = 64
STRING_COST_PER_BYTE = 4
DATA_COST = 33

# Header and garbage-collector header of an object; and its place in a list, twice, because a list
# that grows is copied.
_OBJECT_COST = 32
_LIST_PLACE_COST = 16
SLOT_COST = 8
# An empty list; paid for each array beside its elements.
LIST_COST = 64

# INVARIANTS 5: decoding allocates at most 16 bytes for a byte received, and 64 KiB whatever was
# received. One of them is the copy that decoders work on. The dearest real requests need 14: a
# Fetch of version 4, whose partitions have 16 bytes and become 225.
COST_PER_BYTE = 15
COST_ALLOWANCE = 40 * 1024


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


def element_cost(element: "type[Message] | FieldType", version: int) -> int:
    """What one more element of an array costs, without the arrays inside it."""
    if isinstance(element, type):
        return _LIST_PLACE_COST + structure_cost(element, version)
    if element == "int8":
        return _LIST_PLACE_COST  # decoders share them
    # Numbers are unpacked into a tuple before they become a list: two places as well.
    return _LIST_PLACE_COST + _VALUE_COST.get(element, 0)


def structure_cost(cls: type[Message], version: int) -> int:
    """What one ``cls`` costs: its slots, and the values that its version has.

    Without the structures that may be absent; decoders pay for those when they come.
    """
    cost = _OBJECT_COST + SLOT_COST * len(cls.fields)
    for field in cls.fields:
        if field.type == "structure" and not field.nullable and field.tag is None:
            assert isinstance(field.element, type)
            cost += structure_cost(field.element, version)
        elif version in field.versions:
            cost += _VALUE_COST.get(field.type, 0)
    return cost
