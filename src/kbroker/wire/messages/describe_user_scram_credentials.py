"""DescribeUserScramCredentials (key 50), version 0, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int8, int16, int32, string


class UserName(Structure):
    name: str = string("0+", default="")


class DescribeUserScramCredentialsRequest(Request, api_key=50, versions="0", flexible="0+"):
    users: list[UserName] | None = array(UserName, "0+", nullable="0+", default=[])


class CredentialInfo(Structure):
    mechanism: int = int8("0+", default=0)
    iterations: int = int32("0+", default=0)


class DescribeUserScramCredentialsResult(Structure):
    user: str = string("0+", default="")
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    credential_infos: list[CredentialInfo] = array(CredentialInfo, "0+", default=[])


class DescribeUserScramCredentialsResponse(Response, api_key=50, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")
    results: list[DescribeUserScramCredentialsResult] = array(
        DescribeUserScramCredentialsResult, "0+", default=[]
    )
