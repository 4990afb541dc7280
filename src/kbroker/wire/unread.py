"""Arrays of structures of fixed size, read when somebody first looks at them.

Where every element takes the same number of bytes, their count says all that can be wrong with
them: a decoder keeps the bytes, and the objects are made on the first access. A fetch of a session
that is refused, or a partition list of which only the length is asked for, costs next to nothing.

An unread array is a list, and no caller can tell it from one: whatever `list` can do makes the
objects first. From then on its class has no methods of its own and is as fast as any list. What
the objects take is paid for when the array is decoded (decision 3), as if they were made at once.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

from kbroker.wire.message import Message
from kbroker.wire.notation import Buffer

# Puts the elements that stand in a buffer into a list without any.
Filler: TypeAlias = "Callable[[list[Message], Buffer, int], None]"


class Structures(list[Message]):
    """An array that has been read; a list."""

    __slots__ = ("_count", "_data", "_fill")


class UnreadStructures(Structures):
    """``count`` structures that stand in ``data``, of which none has been made yet."""

    __slots__ = ()

    def __init__(self, fill: Filler, data: Buffer, count: int) -> None:
        self._fill, self._data, self._count = fill, data, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Message]:
        _read(self)
        return list.__iter__(self)

    def __radd__(self, other: list[Message]) -> list[Message]:
        # A list that is added to one of a subclass takes what lies in it, and asks no method.
        _read(self)
        return other + self


def _read(array: UnreadStructures) -> None:
    """Makes the elements; the array is an ordinary list from here on."""
    fill, data, count = array._fill, array._data, array._count
    del array._fill, array._data, array._count
    cast(list[Message], array).__class__ = Structures
    fill(array, data, count)


def _reading_first(name: str) -> Callable[..., object]:
    method = cast("Callable[..., object]", getattr(list, name))

    def read_first(self: UnreadStructures, *arguments: object, **options: object) -> object:
        _read(self)
        return method(self, *arguments, **options)

    read_first.__name__ = name
    return read_first


# All that a list can do, but for what makes one, what does not look at its elements, and what
# stands above.
_NOT_ABOUT_ELEMENTS = {"__new__", "__init__", "__getattribute__", "__hash__", "__doc__"}
for _name in vars(list).keys() - _NOT_ABOUT_ELEMENTS - vars(UnreadStructures).keys():
    if _name != "__class_getitem__":
        setattr(UnreadStructures, _name, _reading_first(_name))
for _name in ("__reduce_ex__", "__reduce__"):
    setattr(UnreadStructures, _name, _reading_first(_name))
