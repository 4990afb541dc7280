"""DescribeLogDirs (key 35), versions 1-5, flexible from 2."""

from kbroker.wire.message import Request, Response, Structure
from kbroker.wire.notation import array, boolean, int16, int32, int64, int_array, string


class DescribableLogDirTopic(Structure):
    topic: str = string("0+", default="")
    partitions: list[int] = int_array("int32", "0+", default=[])


class DescribeLogDirsRequest(Request, api_key=35, versions="1-5", flexible="2+"):
    topics: list[DescribableLogDirTopic] | None = array(
        DescribableLogDirTopic, "0+", nullable="0+", default=[]
    )


class DescribeLogDirsPartition(Structure):
    partition_index: int = int32("0+", default=0)
    partition_size: int = int64("0+", default=0)
    offset_lag: int = int64("0+", default=0)
    is_future_key: bool = boolean("0+", default=False)


class DescribeLogDirsTopic(Structure):
    name: str = string("0+", default="")
    partitions: list[DescribeLogDirsPartition] = array(DescribeLogDirsPartition, "0+", default=[])


class DescribeLogDirsResult(Structure):
    error_code: int = int16("0+", default=0)
    log_dir: str = string("0+", default="")
    topics: list[DescribeLogDirsTopic] = array(DescribeLogDirsTopic, "0+", default=[])
    total_bytes: int = int64("4+", default=-1, ignorable=True)
    usable_bytes: int = int64("4+", default=-1, ignorable=True)
    is_cordoned: bool = boolean("5+", default=False, ignorable=True)


class DescribeLogDirsResponse(Response, api_key=35, versions="1-5", flexible="2+"):
    throttle_time_ms: int = int32("0+", default=0)
    error_code: int = int16("3+", default=0, ignorable=True)
    results: list[DescribeLogDirsResult] = array(DescribeLogDirsResult, "0+", default=[])
