"""DescribeDelegationToken (key 41), versions 1-3, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, data, int16, int32, int64, string


class DescribeDelegationTokenOwner(Structure):
    principal_type: str = string("0+", default="")
    principal_name: str = string("0+", default="")


class DescribeDelegationTokenRequest(Request, api_key=41, versions="1-3", flexible="2+"):
    owners: list[DescribeDelegationTokenOwner] | None = array(
        DescribeDelegationTokenOwner, "0+", nullable="0+", default=[]
    )


class DescribedDelegationTokenRenewer(Structure):
    principal_type: str = string("0+", default="")
    principal_name: str = string("0+", default="")


class DescribedDelegationToken(Structure):
    principal_type: str = string("0+", default="")
    principal_name: str = string("0+", default="")
    token_requester_principal_type: str = string("3+", default="")
    token_requester_principal_name: str = string("3+", default="")
    issue_timestamp: int = int64("0+", default=0)
    expiry_timestamp: int = int64("0+", default=0)
    max_timestamp: int = int64("0+", default=0)
    token_id: str = string("0+", default="")
    hmac: bytes = data("0+", default=b"")
    renewers: list[DescribedDelegationTokenRenewer] = array(
        DescribedDelegationTokenRenewer, "0+", default=[]
    )


class DescribeDelegationTokenResponse(Response, api_key=41, versions="1-3", flexible="2+"):
    error_code: int = int16("0+", default=0)
    tokens: list[DescribedDelegationToken] = array(DescribedDelegationToken, "0+", default=[])
    throttle_time_ms: int = int32("0+", default=0)
