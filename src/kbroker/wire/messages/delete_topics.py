"""DeleteTopics (key 20), versions 1-6, flexible from 4."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, string, string_array, uuid


class DeleteTopicState(Structure):
    name: str | None = string("6+", nullable="6+", default=None)
    topic_id: Uuid = uuid("6+", default=ZERO_UUID)


class DeleteTopicsRequest(Request, api_key=20, versions="1-6", flexible="4+"):
    topics: list[DeleteTopicState] = array(DeleteTopicState, "6+", default=[])
    topic_names: list[str] = string_array("0-5", default=[], ignorable=True)
    timeout_ms: int = int32("0+", default=0)


class DeletableTopicResult(Structure):
    name: str | None = string("0+", nullable="6+", default="")
    topic_id: Uuid = uuid("6+", default=ZERO_UUID, ignorable=True)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("5+", nullable="5+", default=None, ignorable=True)


class DeleteTopicsResponse(Response, api_key=20, versions="1-6", flexible="4+"):
    throttle_time_ms: int = int32("1+", default=0, ignorable=True)
    responses: list[DeletableTopicResult] = array(DeletableTopicResult, "0+", default=[])
