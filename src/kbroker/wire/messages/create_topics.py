"""CreateTopics (key 19), versions 2-7, flexible from 5."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int8, int16, int32, int_array, string, uuid


class CreatableReplicaAssignment(Structure):
    partition_index: int = int32("0+", default=0)
    broker_ids: list[int] = int_array("int32", "0+", default=[])


class CreatableTopicConfig(Structure):
    name: str = string("0+", default="")
    value: str | None = string("0+", nullable="0+", default="")


class CreatableTopic(Structure):
    name: str = string("0+", default="")
    num_partitions: int = int32("0+", default=0)
    replication_factor: int = int16("0+", default=0)
    assignments: list[CreatableReplicaAssignment] = array(
        CreatableReplicaAssignment, "0+", default=[]
    )
    configs: list[CreatableTopicConfig] = array(CreatableTopicConfig, "0+", default=[])


class CreateTopicsRequest(Request, api_key=19, versions="2-7", flexible="5+"):
    topics: list[CreatableTopic] = array(CreatableTopic, "0+", default=[])
    timeout_ms: int = int32("0+", default=60000)
    validate_only: bool = boolean("1+", default=False)


class CreatableTopicConfigs(Structure):
    name: str = string("5+", default="")
    value: str | None = string("5+", nullable="5+", default="")
    read_only: bool = boolean("5+", default=False)
    config_source: int = int8("5+", default=-1, ignorable=True)
    is_sensitive: bool = boolean("5+", default=False)


class CreatableTopicResult(Structure):
    name: str = string("0+", default="")
    topic_id: Uuid = uuid("7+", default=ZERO_UUID, ignorable=True)
    error_code: int = int16("0+", default=0)
    error_message: str | None = string("1+", nullable="0+", default="", ignorable=True)
    topic_config_error_code: int = int16("5+", default=0, tag=0, ignorable=True)
    num_partitions: int = int32("5+", default=-1, ignorable=True)
    replication_factor: int = int16("5+", default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = array(
        CreatableTopicConfigs, "5+", nullable="5+", default=[], ignorable=True
    )


class CreateTopicsResponse(Response, api_key=19, versions="2-7", flexible="5+"):
    throttle_time_ms: int = int32("2+", default=0, ignorable=True)
    topics: list[CreatableTopicResult] = array(CreatableTopicResult, "0+", default=[])
