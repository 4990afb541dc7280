import pytest

from kbroker.client.connection import Connection
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from kbroker.wire.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from tests.handlers.administrator import Administrator


def alter(connection: Connection, path, topics, version=2):
    request = AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path,
                topics=[
                    AlterReplicaLogDirTopic(name=name, partitions=indexes)
                    for name, indexes in topics.items()
                ],
            )
        ]
    )
    answer = connection.ask(request, AlterReplicaLogDirsResponse, version=version)
    return {
        (topic.topic_name, one.partition_index): ErrorCode(one.error_code)
        for topic in answer.results
        for one in topic.partitions
    }


def directories(connection: Connection) -> dict[str, set[str]]:
    """The directories, and the topics that lie in each."""
    answer = connection.ask(DescribeLogDirsRequest(topics=None), DescribeLogDirsResponse, version=4)
    return {one.log_dir: {topic.name for topic in one.topics} for one in answer.results}


@pytest.mark.parametrize("version", [*AlterReplicaLogDirsRequest.versions])
def test_what_lies_there_already_need_not_be_moved(admin, version):
    admin.must_create("t", 2)
    (path,) = directories(admin)

    assert alter(admin, path, {"t": [0, 1, 2], "nope": [0]}, version) == {
        ("t", 0): ErrorCode.NONE,
        ("t", 1): ErrorCode.NONE,
        ("t", 2): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("nope", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }


def test_only_data_directories_are_known(admin):
    admin.must_create("t", 1)

    assert alter(admin, "/nowhere", {"t": [0]}) == {("t", 0): ErrorCode.LOG_DIR_NOT_FOUND}


def test_a_name_that_leaves_no_room_is_refused(admin):
    (path,) = directories(admin)

    answer = alter(admin, path, {"a" * 213: [0], "a" * 214: [0]})

    assert [*answer.values()] == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
    ]


def test_a_log_stays_where_it_is(tmp_path):
    paths = [str(tmp_path / name) for name in ("one", "two")]
    with (
        Broker(configs={"log.dirs": ",".join(paths)}) as broker,
        Administrator(broker.host, broker.port) as admin,
    ):
        admin.must_create("t", 1)
        before = directories(admin)
        (other,) = [path for path, topics in before.items() if "t" not in topics]

        assert alter(admin, other, {"t": [0]}) == {("t", 0): ErrorCode.INVALID_REQUEST}
        assert directories(admin) == before
