"""RequestHeader: versions 1-2, flexible from 2.

ResponseHeader: versions 0-1, flexible from 1.
"""

from kbroker.wire.message import Stored
from kbroker.wire.notation import int16, int32, string


class RequestHeader(Stored, versions="1-2", flexible="2+"):
    request_api_key: int = int16("0+", default=0)
    request_api_version: int = int16("0+", default=0)
    correlation_id: int = int32("0+", default=0)
    client_id: str | None = string("1+", nullable="1+", default="")


class ResponseHeader(Stored, versions="0-1", flexible="1+"):
    correlation_id: int = int32("0+", default=0)
