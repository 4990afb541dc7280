"""CreatePartitions (key 37), versions 0-3, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int16, int32, int_array, string


class CreatePartitionsAssignment(Structure):
    broker_ids: list[int] = int_array("int32", "0+", default=[])


class CreatePartitionsTopic(Structure):
    name: str = string("0+", default="")
    count: int = int32("0+", default=0)
    assignments: list[CreatePartitionsAssignment] | None = array(
        CreatePartitionsAssignment, "0+", nullable="0+", default=[]
    )


class CreatePartitionsRequest(Request, api_key=37, versions="0-3", flexible="2+"):
    topics: list[CreatePartitionsTopic] = array(CreatePartitionsTopic, "0+", default=[])
    timeout_ms: int = int32("0+", default=0)
    validate_only: bool = boolean("0+", default=False)


class CreatePartitionsTopicResult(Structure):
    name: str = string("0+", default="")
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("0+", nullable="0+", default=None)


class CreatePartitionsResponse(Response, api_key=37, versions="0-3", flexible="2+"):
    throttle_time_ms: int = int32("0+", default=0)
    results: list[CreatePartitionsTopicResult] = array(
        CreatePartitionsTopicResult, "0+", default=[]
    )
