"""All messages there are, and hypothesis strategies that make them."""

import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module

from hypothesis import strategies as st

from kbroker.wire import messages
from kbroker.wire.message import Message
from kbroker.wire.notation import Field

# Where a test knows better what a field may hold; None where it does not.
Narrow = Callable[[type[Message], Field], st.SearchStrategy[object] | None]


def all_messages() -> list[type[Message]]:
    """Every request, response and stored structure, by name."""
    found = {
        value
        for module in pkgutil.iter_modules(messages.__path__)
        for value in vars(import_module(f"{messages.__name__}.{module.name}")).values()
        if isinstance(value, type) and issubclass(value, Message) and value.versions
    }
    return sorted(found, key=lambda cls: cls.__name__)


def all_pairs() -> Iterator[tuple[type[Message], int]]:
    """Every message at every version."""
    for cls in all_messages():
        for version in cls.versions:
            yield cls, version


def pair_id(value: object) -> str:
    return value.__name__ if isinstance(value, type) else str(value)


# Short ones, one whose compact length takes two bytes, and one outside ASCII.
TEXTS = st.text(st.characters(codec="utf-8"), max_size=4) | st.sampled_from(
    ["", "a-topic", "t" * 126, "t" * 127, "Ü" * 200]
)
BLOBS = st.binary(max_size=6) | st.sampled_from([b"", b"b" * 127, b"b" * 300])
_VALUES: dict[str, st.SearchStrategy[object]] = {
    "int8": st.integers(-(2**7), 2**7 - 1),
    "int16": st.integers(-(2**15), 2**15 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float64": st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "uuid": st.binary(min_size=16, max_size=16),
    "string": TEXTS,
    "data": BLOBS,
    "records": BLOBS,
}


def strategy(
    cls: type[Message], version: int, narrow: Narrow = lambda _cls, _field: None
) -> st.SearchStrategy[Message]:
    """Messages with values in all fields that ``version`` has, and defaults in the others."""
    fields = {
        field.name: _field_strategy(cls, field, version, narrow)
        for field in cls.fields
        if version in field.versions
    }
    return st.fixed_dictionaries(fields).map(lambda values: cls(**values))


def _field_strategy(
    cls: type[Message], field: Field, version: int, narrow: Narrow
) -> st.SearchStrategy[object]:
    narrowed = narrow(cls, field)
    if narrowed is not None:
        return narrowed
    if field.type == "array":
        if isinstance(field.element, type):
            values = st.lists(strategy(field.element, version, narrow), max_size=2)
        else:
            few = st.lists(_VALUES[field.element or ""], max_size=3)
            values = few | st.lists(_VALUES[field.element or ""], min_size=40, max_size=40)
    elif field.type == "structure":
        element = field.element
        assert isinstance(element, type)
        values = strategy(element, version, narrow)
        if field.tag is not None and not field.nullable:
            # One full of defaults is not written, and comes back as None.
            return st.none() | values.map(lambda value: None if value == element() else value)
    else:
        values = _VALUES[field.type]
    return st.none() | values if version in field.nullable else values
