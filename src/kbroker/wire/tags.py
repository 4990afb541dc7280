"""Tagged fields (KIP-482): a count, then for each field its tag, its size and its bytes.

Here is what request headers and decoders share: the way over the fields that nobody knows. They
are skipped, never kept, so that no count and no size makes the broker allocate anything.
"""

from kbroker.wire.errors import ProtocolError
from kbroker.wire.notation import Buffer
from kbroker.wire.varints import decode_uvarint, decode_uvarint_rest

# More tagged fields than this in one structure are an attack (CVE-2026-111115).
MAX_TAGGED_FIELDS = 1024
# The header is read before anybody is authenticated, and Kafka knows no tag in it.
MAX_HEADER_TAGGED_FIELDS = 64


def tag_count(
    buffer: Buffer, position: int, first: int, most: int = MAX_TAGGED_FIELDS
) -> tuple[int, int]:
    """The number of tagged fields, whose first byte was read already, and the position behind."""
    count = first
    if first > 127:
        count, position = decode_uvarint_rest(buffer, position, first)
    if count > most:
        raise ProtocolError(f"{count} tagged fields, more than {most}")
    return count, position


def next_tag(buffer: Buffer, position: int, end: int) -> tuple[int, int, int]:
    """The tag of the next tagged field, where the field stops, and where it starts."""
    tag, position = decode_uvarint(buffer, position)
    size, position = decode_uvarint(buffer, position)
    if size > end - position:
        raise ProtocolError(f"tagged field {tag} goes on behind the end of the message")
    return tag, position + size, position


def skip_tags(
    buffer: Buffer, position: int, end: int, first: int, most: int = MAX_TAGGED_FIELDS
) -> int:
    """The position behind tagged fields that nobody here knows."""
    count, position = tag_count(buffer, position, first, most)
    for _ in range(count):
        _, position, _ = next_tag(buffer, position, end)
    return position
