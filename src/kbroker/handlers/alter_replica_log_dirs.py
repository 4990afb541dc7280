"""AlterReplicaLogDirs (key 34): in which data directory replicas shall lie (KIP-113).

A replica stays where it is, or the request is refused: logs are not moved between directories. A
broker with one data directory, the usual one, has nowhere else to put them, so there this is all
there is to it.
"""

import os

from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)

# While a log moves, its directory is called <topic>-<partition>.<32 digits>-future in Kafka, and
# no file's name is longer than 255; this is what is left for the topic and the partition.
_LONGEST_NAME = 255 - len("-.") - 32 - len("-future")


def begin(
    context: RequestContext, request: AlterReplicaLogDirsRequest
) -> AlterReplicaLogDirsResponse:
    """Answer for each partition; one that is named twice is answered for the last directory."""
    answers: dict[str, dict[int, ErrorCode]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            for index in topic.partitions:
                error = _alter(context, directory.path, topic.name, index)
                answers.setdefault(topic.name, {})[index] = error
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(partition_index=index, error_code=error)
                    for index, error in errors.items()
                ],
            )
            for name, errors in answers.items()
        ]
    )


def _alter(context: RequestContext, path: str, topic: str, index: int) -> ErrorCode:
    broker = context.broker
    if len(topic) + len(str(index)) > _LONGEST_NAME:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    # A path is compared as it stands, as Kafka does: only absolute ones are known.
    if path not in {os.path.abspath(one) for one in broker.config.log_dirs}:
        return ErrorCode.LOG_DIR_NOT_FOUND
    partition, error = broker.partitions.find(topic, index)
    if partition is None:
        # Here Kafka calls a replica that is not there by an older name.
        known = error is not ErrorCode.NOT_LEADER_OR_FOLLOWER
        return error if known else ErrorCode.REPLICA_NOT_AVAILABLE
    if partition.offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if os.path.dirname(os.path.abspath(partition.log.directory)) != path:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE
