"""Request headers in, response frames out; and the reverse for clients.

A frame is a length in four bytes, a header and a message. Request headers are 1 or 2, response
headers 0 or 1, the higher one at flexible versions; the client id keeps its old form in both, so
that a broker can read a header whose version it does not know. Two rules of KIP-511 let a client
find out what a broker speaks: an ApiVersions response has header 0 at every version, and a broker
that does not know the version of an ApiVersions request answers with version 0 of the response.

The generated RequestHeader in `kbroker.wire.messages.headers` says the same in the notation; what
is written by hand here is the hot path, and a test compares the two.
"""

import struct
from typing import NamedTuple, TypeVar, cast

from kbroker.wire.api_keys import ApiKey
from kbroker.wire.apis import API_SPECS
from kbroker.wire.errors import ProtocolError
from kbroker.wire.message import Request, Response
from kbroker.wire.notation import Buffer, Part
from kbroker.wire.tags import MAX_HEADER_TAGGED_FIELDS, skip_tags
from kbroker.wire.varints import encode_uvarint

R = TypeVar("R", bound=Response)

# Key, version, correlation id and the length of the client id.
_REQUEST_HEADER = struct.Struct(">hhih")
# Frame length and correlation id; in header 1 also the count of no tagged fields.
_RESPONSE_HEADER_0 = struct.Struct(">ii")
_RESPONSE_HEADER_1 = struct.Struct(">iiB")
_FRAME_LENGTH = struct.Struct(">i")

# The frame length does not count itself.
FRAME_LENGTH_BYTES = 4

_NEVER_FLEXIBLE = 1 << 15
# The first version of each API whose requests have header 2. Versions newer than all we know have
# it too, which is what makes the header of an unknown ApiVersions request readable.
_FLEXIBLE_FROM: dict[int, int] = {
    key: spec.flexible.first if spec.flexible else _NEVER_FLEXIBLE
    for key, spec in API_SPECS.items()
}


class RequestHeader(NamedTuple):
    """What stands before every request. ``body`` is the position of the request itself.

    ``api_key`` is one of the API table; ``api_version`` is whatever the client wrote.
    """

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body: int


class UnknownApiError(ProtocolError):
    """The request is for no API of the broker listener; Kafka closes the connection."""


def decode_request_header(buffer: Buffer, position: int, end: int) -> RequestHeader:
    """The header of the request between ``position`` and ``end``, its frame length left out.

    UnknownApiError if nobody can tell what the header looks like, ProtocolError if it is none.
    The version is not checked: whoever dispatches knows which ones are served, and must answer
    an ApiVersions request of an unknown version.
    """
    try:
        api_key, api_version, correlation_id, length = _REQUEST_HEADER.unpack_from(buffer, position)
        position += _REQUEST_HEADER.size
        client_id = None
        if length >= 0:
            stop = position + length
            if stop > end:
                raise ProtocolError("the client id goes on behind the end of the request")
            client_id = str(buffer[position:stop], "utf-8", "replace")
            position = stop
        flexible_from = _FLEXIBLE_FROM.get(api_key)
        if flexible_from is None:
            raise UnknownApiError(f"there is no API {api_key}")
        if api_version >= flexible_from:
            tags = buffer[position]
            position += 1
            if tags:
                position = skip_tags(buffer, position, end, tags, MAX_HEADER_TAGGED_FIELDS)
    except (struct.error, IndexError):
        raise ProtocolError("the request ends within its header") from None
    if position > end:
        raise ProtocolError("the request ends within its header")
    # A fifth of a microsecond faster than calling the class.
    return tuple.__new__(RequestHeader, (api_key, api_version, correlation_id, client_id, position))


def encode_response_frame(correlation_id: int, response: Response, api_version: int) -> list[Part]:
    """The parts of a whole frame; the first one starts with its length."""
    parts = response.encode(api_version)
    first = cast(bytes, parts[0])
    body = len(first) if len(parts) == 1 else sum(map(len, parts))
    if api_version in response.flexible_versions and response.api_key != ApiKey.API_VERSIONS:
        parts[0] = _RESPONSE_HEADER_1.pack(body + 5, correlation_id, 0) + first
    else:
        parts[0] = _RESPONSE_HEADER_0.pack(body + 4, correlation_id) + first
    return parts


def encode_request_frame(
    correlation_id: int, client_id: str | None, request: Request, api_version: int
) -> list[Part]:
    """The parts of a whole frame; the first one starts with its length."""
    parts = request.encode(api_version)
    client = b"" if client_id is None else client_id.encode()
    header = _REQUEST_HEADER.pack(
        request.api_key, api_version, correlation_id, -1 if client_id is None else len(client)
    )
    tags = encode_uvarint(0) if api_version in request.flexible_versions else b""
    head = header + client + tags
    body = sum(map(len, parts))
    parts[0] = b"".join((_FRAME_LENGTH.pack(len(head) + body), head, cast(bytes, parts[0])))
    return parts


def frame_bytes(parts: list[Part]) -> int:
    """How many bytes a frame has, its length included, without counting them again."""
    (length,) = _FRAME_LENGTH.unpack_from(cast(bytes, parts[0]))
    return FRAME_LENGTH_BYTES + int(length)


def decode_response(
    response_class: type[R], api_version: int, buffer: Buffer, position: int, end: int
) -> tuple[int, R]:
    """The correlation id and the response between two positions, its frame length left out.

    ProtocolError if the bytes are no such response. A broker that does not know the version of
    an ApiVersions request answers with version 0, error UNSUPPORTED_VERSION (KIP-511): a client
    that sent a higher one tries 0 when the answer does not make sense.
    """
    try:
        (correlation_id,) = _FRAME_LENGTH.unpack_from(buffer, position)
        position += _FRAME_LENGTH.size
        if (
            api_version in response_class.flexible_versions
            and response_class.api_key != ApiKey.API_VERSIONS
        ):
            tags = buffer[position]
            position = skip_tags(buffer, position + 1, end, tags, MAX_HEADER_TAGGED_FIELDS)
    except (struct.error, IndexError):
        raise ProtocolError("the response ends within its header") from None
    message, _ = response_class.decoder(api_version)(buffer, position, end)
    return correlation_id, cast(R, message)
