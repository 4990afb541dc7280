"""What compiled decoders call while they run: the rare cases, and the errors.

The common case of every value stands in the decoder itself; see `kbroker.wire.decoding`.
"""

import struct
from itertools import repeat
from sys import getsizeof
from typing import NoReturn

from kbroker.wire.errors import ProtocolError
from kbroker.wire.notation import Buffer
from kbroker.wire.sizes import (
    CAREFUL_TEXT_COST_PER_BYTE,
    LIST_COST,
    LIST_PLACE_COST,
    MAX_STRING_BYTES,
    VALUE_COST,
)
from kbroker.wire.tags import next_tag, skip_tags, tag_count
from kbroker.wire.varints import decode_uvarint, decode_uvarint_rest


class CostlyError(Exception):
    """The estimate is used up; the message must be decoded again, counting what it takes."""


class NoElements(list[NoReturn]):
    """An array without elements: one list for all messages, because most arrays are empty.

    It equals ``[]`` and cannot be changed.
    """

    __slots__ = ()

    def _refuse(self, *_args: object, **_options: object) -> NoReturn:
        raise TypeError("an array without elements is shared by all decoded messages")

    # What changes nothing in an empty list, such as sort and clear, is left as it is.
    append = extend = insert = _refuse
    __iadd__ = __imul__ = __setitem__ = _refuse


NO_ELEMENTS = NoElements()


def read_long_text(buffer: Buffer, position: int, end: int) -> tuple[int, int]:
    """Where a text of more than 126 bytes starts and stops, whose length is at ``position``."""
    length, position = decode_uvarint(buffer, position)
    if length == 0:
        raise unexpected_null()
    if length > MAX_STRING_BYTES + 1:
        raise text_too_long(length - 1)
    return position, _stop(position, length - 1, end)


def read_long_data(buffer: Buffer, position: int, end: int) -> tuple[int, int]:
    """The same for a byte string, which may be of any length."""
    length, position = decode_uvarint(buffer, position)
    if length == 0:
        raise unexpected_null()
    return position, _stop(position, length - 1, end)


def _stop(position: int, length: int, end: int) -> int:
    if length > end - position:
        raise too_short(end)
    return position + length


def read_uuids(buffer: Buffer, position: int, count: int) -> list[bytes]:
    """An array of uuids."""
    return [bytes(buffer[at : at + 16]) for at in range(position, position + 16 * count, 16)]


def careful_text(buffer: Buffer, position: int, stop: int, budget: int) -> tuple[str, int]:
    """A text, and what is left of the budget.

    Java replaces malformed characters too; a client in Latin-1 is not turned away.
    """
    if budget < CAREFUL_TEXT_COST_PER_BYTE * (stop - position):
        raise too_costly()
    text = str(buffer[position:stop], "utf-8", "replace")
    return text, budget - getsizeof(text)


def numbers_cost(numbers: list[int]) -> int:
    """What an array of numbers takes; CPython shares those from -5 to 256."""
    places = len(numbers) + 1  # made from a tuple, a list has an even number of them
    kept = sum(not -6 < number < 257 for number in numbers)
    return LIST_COST + LIST_PLACE_COST * places + VALUE_COST["int64"] * kept


def too_short(end: int) -> ProtocolError:
    """The message is longer than it is."""
    return ProtocolError(f"the message goes on behind its end at byte {end}")


def unexpected_null() -> ProtocolError:
    """Null, where the version knows none."""
    return ProtocolError("a field that cannot be null is null")


def text_too_long(length: int) -> ProtocolError:
    """A text that the old form of its length could not have held."""
    return ProtocolError(f"a text has {length} bytes, more than {MAX_STRING_BYTES}")


def too_many() -> ProtocolError:
    """A count that cannot be true."""
    return ProtocolError("an array claims more elements than there are bytes for")


def too_costly() -> ProtocolError:
    """The budget is used up."""
    return ProtocolError("the message would take too much memory for its size")


def wrong_tag_size(tag: int) -> ProtocolError:
    """A known tagged field that does not end where it should."""
    return ProtocolError(f"tagged field {tag} does not have the size it claims")


# A byte could cost an integer object each; all bytes share these.
_INT8 = (*range(128), *range(-128, 0))

RUNTIME: dict[str, object] = {
    "CostlyError": CostlyError,
    "NO_ELEMENTS": NO_ELEMENTS,
    "StructError": struct.error,
    "careful_text": careful_text,
    "int8_of": _INT8.__getitem__,
    "new": object.__new__,
    "next_tag": next_tag,
    "numbers_cost": numbers_cost,
    "read_long_data": read_long_data,
    "read_long_text": read_long_text,
    "read_uuids": read_uuids,
    "repeat": repeat,
    "skip_tags": skip_tags,
    "tag_count": tag_count,
    "too_costly": too_costly,
    "too_many": too_many,
    "too_short": too_short,
    "unexpected_null": unexpected_null,
    "unpack_from": struct.unpack_from,
    "uvarint_rest": decode_uvarint_rest,
    "wrong_tag_size": wrong_tag_size,
}
