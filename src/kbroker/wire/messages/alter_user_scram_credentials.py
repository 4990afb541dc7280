"""AlterUserScramCredentials (key 51), version 0, always flexible."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, data, int8, int16, int32, string


class ScramCredentialDeletion(Structure):
    name: str = string("0+", default="")
    mechanism: int = int8("0+", default=0)


class ScramCredentialUpsertion(Structure):
    name: str = string("0+", default="")
    mechanism: int = int8("0+", default=0)
    iterations: int = int32("0+", default=0)
    salt: bytes = data("0+", default=b"")
    salted_password: bytes = data("0+", default=b"")


class AlterUserScramCredentialsRequest(Request, api_key=51, versions="0", flexible="0+"):
    deletions: list[ScramCredentialDeletion] = array(ScramCredentialDeletion, "0+", default=[])
    upsertions: list[ScramCredentialUpsertion] = array(ScramCredentialUpsertion, "0+", default=[])


class AlterUserScramCredentialsResult(Structure):
    user: str = string("0+", default="")
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="")


class AlterUserScramCredentialsResponse(Response, api_key=51, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    results: list[AlterUserScramCredentialsResult] = array(
        AlterUserScramCredentialsResult, "0+", default=[]
    )
