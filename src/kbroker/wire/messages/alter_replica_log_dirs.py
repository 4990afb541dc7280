"""AlterReplicaLogDirs (key 34), versions 1-2, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, int16, int32, int_array, string


class AlterReplicaLogDirTopic(Structure):
    name: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class AlterReplicaLogDir(Structure):
    path: str = string("0+", default="")
    topics: list[AlterReplicaLogDirTopic] = array(AlterReplicaLogDirTopic, "0+", default=[])


class AlterReplicaLogDirsRequest(Request, api_key=34, versions="1-2", flexible="2+"):
    dirs: list[AlterReplicaLogDir] = array(AlterReplicaLogDir, "0+", default=[])


class AlterReplicaLogDirPartitionResult(Structure):
    partition_index: int = int32("0+", default=0)
    error_code: int = int16("0+", default=0)


class AlterReplicaLogDirTopicResult(Structure):
    topic_name: str = string("0+", default="")
    partitions: list[AlterReplicaLogDirPartitionResult] = array(
        AlterReplicaLogDirPartitionResult, "0+", default=[]
    )


class AlterReplicaLogDirsResponse(Response, api_key=34, versions="1-2", flexible="2+"):
    throttle_time_ms: int = int32("0+", default=0)
    results: list[AlterReplicaLogDirTopicResult] = array(
        AlterReplicaLogDirTopicResult, "0+", default=[]
    )
