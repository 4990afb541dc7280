"""AddRaftVoter (key 80), versions 0-1, always flexible."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int16, int32, string, uint16, uuid


class Listener(Structure):
    name: str = string("0+", default="")
    host: str = string("0+", default="")
    port: int = uint16("0+", default=0)


class AddRaftVoterRequest(Request, api_key=80, versions="0-1", flexible="0+"):
    cluster_id: str | None = string("0+", nullable="0+", default="")
    timeout_ms: int = int32("0+", default=0)
    voter_id: int = int32("0+", default=0)
    voter_directory_id: Uuid = uuid("0+", default=ZERO_UUID)
    listeners: list[Listener] = array(Listener, "0+", default=[])
    ack_when_committed: bool = boolean("1+", default=True)


class AddRaftVoterResponse(Response, api_key=80, versions="0-1", flexible="0+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default="", ignorable=True)
