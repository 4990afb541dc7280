"""SaslHandshake (key 17), versions 0-1, never flexible."""

from kbroker.wire.message import Request, Response
from kbroker.wire.notation import int16, string, string_array


class SaslHandshakeRequest(Request, api_key=17, versions="0-1", flexible="none"):
    mechanism: str = string("0+", default="")


class SaslHandshakeResponse(Response, api_key=17, versions="0-1", flexible="none"):
    error_code: int = int16("0+", default=0)
    mechanisms: list[str] = string_array("0+", default=[])
