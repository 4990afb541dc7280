"""Zigzag varints: how the fields of a record are written.

Seven bits per byte, lowest first, the eighth says that more follow. Zigzag folds the sign into
the lowest bit (0, -1, 1, -2 are 0, 1, 2, 3), so that small numbers of either sign are short.
Kafka calls them varint (32 bits, 5 bytes at the most) and varlong (64 bits, 10 bytes).
"""

from kbroker.records.errors import CorruptRecords

MAX_INT32 = 2**31 - 1
MAX_INT64 = 2**63 - 1


def encode_varint(number: int) -> bytes:
    """The bytes of ``number``, which fits 64 bits; a varint is the short varlong."""
    zigzag = (number << 1) ^ (number >> 63)
    if zigzag < 0x80:
        return bytes((zigzag,))
    encoded = bytearray()
    while zigzag >= 0x80:
        encoded.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    encoded.append(zigzag)
    return bytes(encoded)


def decode_varlong(data: bytes, position: int) -> tuple[int, int]:
    """The number at ``position`` and the position behind it.

    Raises CorruptRecords on more than 64 bits, and IndexError where ``data`` ends.
    """
    # Two bytes reach to 8191, which is nearly every length and delta there is.
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    zigzag = byte & 0x7F | (second := data[position + 1]) << 7
    if second < 0x80:
        return (zigzag >> 1) ^ -(zigzag & 1), position + 2
    return _decode_long(data, position)


def decode_varint(data: bytes, position: int) -> tuple[int, int]:
    """As `decode_varlong`, for a number of 32 bits."""
    byte = data[position]
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position + 1
    zigzag = byte & 0x7F | (second := data[position + 1]) << 7
    if second < 0x80:
        return (zigzag >> 1) ^ -(zigzag & 1), position + 2
    number, behind = _decode_long(data, position)
    if not -MAX_INT32 - 1 <= number <= MAX_INT32 or behind - position > 5:
        raise CorruptRecords("a varint of more than 32 bits")
    return number, behind


def _decode_long(data: bytes, position: int) -> tuple[int, int]:
    """The plain form of the two above."""
    zigzag = 0
    for shift in range(0, 70, 7):
        byte = data[position]
        position += 1
        zigzag |= (byte & 0x7F) << shift
        if byte < 0x80:
            if zigzag >> 64:
                break
            return (zigzag >> 1) ^ -(zigzag & 1), position
    raise CorruptRecords("a varint of more than 64 bits")
