"""Metadata (key 3), versions 0-13, flexible from 9."""

from kbroker.model import ZERO_UUID, Uuid
from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int16, int32, int_array, string, uuid


class MetadataRequestTopic(Structure):
    topic_id: Uuid = uuid("10+", default=ZERO_UUID, ignorable=True)
    name: str | None = string("0+", nullable="10+", default="")


class MetadataRequest(Request, api_key=3, versions="0-13", flexible="9+"):
    topics: list[MetadataRequestTopic] | None = array(
        MetadataRequestTopic, "0+", nullable="1+", default=[]
    )
    allow_auto_topic_creation: bool = boolean("4+", default=True)
    include_cluster_authorized_operations: bool = boolean("8-10", default=False)
    include_topic_authorized_operations: bool = boolean("8+", default=False)


class MetadataResponseBroker(Structure):
    node_id: int = int32("0+", default=0)
    host: str = string("0+", default="")
    port: int = int32("0+", default=0)
    rack: str | None = string("1+", nullable="1+", default=None, ignorable=True)


class MetadataResponsePartition(Structure):
    error_code: int = int16("0+", default=0)
    partition_index: int = int32("0+", default=0)
    leader_id: int = int32("0+", default=0)
    leader_epoch: int = int32("7+", default=-1, ignorable=True)
    replica_nodes: list[int] = int_array("int32", "0+", default=[])
    isr_nodes: list[int] = int_array("int32", "0+", default=[])
    offline_replicas: list[int] = int_array("int32", "5+", default=[], ignorable=True)


class MetadataResponseTopic(Structure):
    error_code: int = int16("0+", default=0)
    name: str | None = string("0+", nullable="12+", default="")
    topic_id: Uuid = uuid("10+", default=ZERO_UUID, ignorable=True)
    is_internal: bool = boolean("1+", default=False, ignorable=True)
    partitions: list[MetadataResponsePartition] = array(MetadataResponsePartition, "0+", default=[])
    topic_authorized_operations: int = int32("8+", default=-2147483648)


class MetadataResponse(Response, api_key=3, versions="0-13", flexible="9+"):
    throttle_time_ms: int = int32("3+", default=0, ignorable=True)
    brokers: list[MetadataResponseBroker] = array(MetadataResponseBroker, "0+", default=[])
    cluster_id: str | None = string("2+", nullable="2+", default=None, ignorable=True)
    controller_id: int = int32("1+", default=-1, ignorable=True)
    topics: list[MetadataResponseTopic] = array(MetadataResponseTopic, "0+", default=[])
    cluster_authorized_operations: int = int32("8-10", default=-2147483648)
    error_code: int = int16("13+", default=0, ignorable=True)
