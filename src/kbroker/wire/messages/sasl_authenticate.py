"""SaslAuthenticate (key 36), versions 0-2, flexible from 2."""

from kbroker.wire.message import Request, Response
from kbroker.wire.notation import data, int16, int64, string


class SaslAuthenticateRequest(Request, api_key=36, versions="0-2", flexible="2+"):
    auth_bytes: bytes = data("0+", default=b"")


class SaslAuthenticateResponse(Response, api_key=36, versions="0-2", flexible="2+"):
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    auth_bytes: bytes = data("0+", default=b"")
    session_lifetime_ms: int = int64("1+", default=0, ignorable=True)
