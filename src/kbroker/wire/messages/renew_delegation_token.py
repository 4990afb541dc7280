"""RenewDelegationToken (key 39), versions 1-2, flexible from 2."""

from kbroker.wire.message import Request, Response
from kbroker.wire.notation import data, int16, int32, int64


class RenewDelegationTokenRequest(Request, api_key=39, versions="1-2", flexible="2+"):
    hmac: bytes = data("0+", default=b"")
    renew_period_ms: int = int64("0+", default=0)


class RenewDelegationTokenResponse(Response, api_key=39, versions="1-2", flexible="2+"):
    error_code: int = int16("0+", default=0)
    expiry_timestamp_ms: int = int64("0+", default=0)
    throttle_time_ms: int = int32("0+", default=0)
