"""Unsigned variable-length integers: seven bits a byte, low bits first, the high bit says "more".

The flexible versions write lengths this way, shifted by one so that zero can mean null. Codecs
handle the one-byte case themselves and come here for the rest.
"""

from kbroker.wire.errors import ProtocolError

# Lengths, counts and tags are 32-bit numbers, which take five bytes at the most.
MAX_UVARINT_BYTES = 5
MAX_UVARINT = 2**32 - 1

# The bytes of every number that takes one byte.
ONE_BYTE: tuple[bytes, ...] = tuple(bytes((number,)) for number in range(128))


def encode_uvarint(number: int) -> bytes:
    """The bytes of ``number``."""
    if number < 128:
        return ONE_BYTE[number]
    assert number <= MAX_UVARINT
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def decode_uvarint(buffer: bytes | bytearray | memoryview, position: int) -> tuple[int, int]:
    """The number at ``position`` and the position behind it.

    IndexError past the end of the buffer; the codec that called turns it into ProtocolError.
    """
    first = buffer[position]
    if first < 128:
        return first, position + 1
    return decode_uvarint_rest(buffer, position + 1, first)


def decode_uvarint_rest(
    buffer: bytes | bytearray | memoryview, position: int, first: int
) -> tuple[int, int]:
    """The same for a number whose first byte was read already and asks for more."""
    # Each byte adds its seven bits and takes away the bit by which the byte before asked for it.
    byte = buffer[position]
    number = first - 0x80 + (byte << 7)
    if byte < 128:
        return number, position + 1
    byte = buffer[position + 1]
    number += (byte << 14) - 0x4000
    if byte < 128:
        return number, position + 2
    byte = buffer[position + 2]
    number += (byte << 21) - 0x200000
    if byte < 128:
        return number, position + 3
    byte = buffer[position + 3]
    number += (byte << 28) - 0x10000000
    if byte < 128:
        if number > MAX_UVARINT:
            raise ProtocolError("a variable-length integer exceeds 32 bits")
        return number, position + 4
    raise ProtocolError(f"a variable-length integer has more than {MAX_UVARINT_BYTES} bytes")
