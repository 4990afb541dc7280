"""Kafka requests and responses to bytes and back; sans-IO.

errors       ProtocolError, the only exception that bad bytes cause
error_codes  ErrorCode, Kafka's names for what went wrong
api_keys     ApiKey, Kafka's names for its requests (generated)
apis         the API table (generated) and the lazy way from a key to its message classes
versions     VersionRange, "3+" and "0-12"
notation     the words the message modules are written in: int32("0+"), array(Topic, "1+")
message      Message, what every class in messages/ is, and how it finds its codecs
sizes        the smallest wire size and the memory cost of a structure
decoding     compiles a decoder for one message at one version
unread       arrays whose elements are made when somebody looks at them
encoding     compiles an encoder for one message at one version
tags         the way over tagged fields that nobody knows
varints      unsigned variable-length integers
headers      request headers in, response frames out
messages/    one module per API and per stored structure (generated); imported when needed
"""

from kbroker.wire.api_keys import ApiKey
from kbroker.wire.apis import ApiSpec, api_spec, request_class, response_class
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.errors import ProtocolError
from kbroker.wire.headers import (
    RequestHeader,
    UnknownApiError,
    decode_request_header,
    decode_response,
    encode_request_frame,
    encode_response_frame,
    frame_bytes,
)
from kbroker.wire.message import Message
from kbroker.wire.notation import Buffer, Part

__all__ = [
    "ApiKey",
    "ApiSpec",
    "Buffer",
    "ErrorCode",
    "Message",
    "Part",
    "ProtocolError",
    "RequestHeader",
    "UnknownApiError",
    "api_spec",
    "decode_request_header",
    "decode_response",
    "encode_request_frame",
    "encode_response_frame",
    "frame_bytes",
    "request_class",
    "response_class",
]
