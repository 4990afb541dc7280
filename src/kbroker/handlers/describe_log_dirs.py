"""DescribeLogDirs (key 35): the data directories of this broker, and what lies in them."""

from kbroker.broker.log_dirs import DescribedLogDir, describe_log_dirs
from kbroker.broker.partition import Partition
from kbroker.broker.requests import RequestContext
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


def begin(context: RequestContext, request: DescribeLogDirsRequest) -> DescribeLogDirsResponse:
    """Describe every directory, with the partitions asked for; null asks for all of them."""
    broker = context.broker
    asked = None
    if request.topics is not None:
        asked = {(topic.topic, index) for topic in request.topics for index in topic.partitions}
    described = describe_log_dirs(
        broker.config.log_dirs,
        broker.partitions.all(),
        broker.config.get_list("cordoned.log.dirs"),
    )
    return DescribeLogDirsResponse(results=[_result(directory, asked) for directory in described])


def _result(
    directory: DescribedLogDir, asked: set[tuple[str, int]] | None
) -> DescribeLogDirsResult:
    topics: dict[str, DescribeLogDirsTopic] = {}
    for partition in directory.partitions:
        name, index = partition.topic_partition
        if asked is None or (name, index) in asked:
            topic = topics.setdefault(name, DescribeLogDirsTopic(name=name))
            topic.partitions.append(_partition(partition, index))
    return DescribeLogDirsResult(
        error_code=ErrorCode.KAFKA_STORAGE_ERROR if directory.offline else ErrorCode.NONE,
        log_dir=directory.path,
        topics=list(topics.values()),
        total_bytes=directory.total_bytes,
        usable_bytes=directory.usable_bytes,
        is_cordoned=directory.cordoned,
    )


def _partition(partition: Partition, index: int) -> DescribeLogDirsPartition:
    log = partition.log
    return DescribeLogDirsPartition(
        partition_index=index,
        partition_size=log.size_bytes,
        # How far the log is behind what is committed; that of a leader never is.
        offset_lag=max(partition.high_watermark - log.log_end_offset, 0),
    )
