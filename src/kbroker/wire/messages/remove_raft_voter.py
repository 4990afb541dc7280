"""RemoveRaftVoter (key 81), version 0, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response
from kbroker.wire.notation import int16, int32, string, uuid


class RemoveRaftVoterRequest(Request, api_key=81, versions="0", flexible="0+"):
    cluster_id: str | None = string("0+", nullable="0+", default="")
    voter_id: int = int32("0+", default=0)
    voter_directory_id: Uuid = uuid("0+", default=ZERO_UUID)


class RemoveRaftVoterResponse(Response, api_key=81, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="", ignorable=True)
