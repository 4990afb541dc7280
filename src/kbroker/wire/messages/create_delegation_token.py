"""CreateDelegationToken (key 38), versions 1-3, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, data, int16, int32, int64, string


class CreatableRenewers(Structure):
    principal_type: str = string("0+", default="")
    principal_name: str = string("0+", default="")


class CreateDelegationTokenRequest(Request, api_key=38, versions="1-3", flexible="2+"):
    owner_principal_type: str | None = string("3+", nullable="3+", default="")
    owner_principal_name: str | None = string("3+", nullable="3+", default="")
    renewers: list[CreatableRenewers] = array(CreatableRenewers, "0+", default=[])
    max_lifetime_ms: int = int64("0+", default=0)


class CreateDelegationTokenResponse(Response, api_key=38, versions="1-3", flexible="2+"):
    error_code: int = int16("0+", default=0)
    principal_type: str = string("0+", default="")
    principal_name: str = string("0+", default="")
    token_requester_principal_type: str = string("3+", default="")
    token_requester_principal_name: str = string("3+", default="")
    issue_timestamp_ms: int = int64("0+", default=0)
    expiry_timestamp_ms: int = int64("0+", default=0)
    max_timestamp_ms: int = int64("0+", default=0)
    token_id: str = string("0+", default="")
    hmac: bytes = data("0+", default=b"")
    throttle_time_ms: int = int32("0+", default=0)
