import pytest

from kbroker.testing import Broker
from kbroker.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from tests.handlers.administrator import Administrator
from tests.handlers.writing import write_one


def described(admin, topics, version=5):
    request = DescribeLogDirsRequest(topics=topics)
    answer = admin.ask(request, DescribeLogDirsResponse, version=version)
    assert answer.error_code == 0
    return answer.results


def partitions(result):
    """What a directory holds, as (topic, partition)."""
    return {
        (topic.name, one.partition_index) for topic in result.topics for one in topic.partitions
    }


@pytest.mark.parametrize("version", [*DescribeLogDirsRequest.versions])
def test_every_version_tells_the_size_of_partitions(kbroker, admin, version):
    admin.must_create("t", 2)
    size = write_one(admin, "t", 1)

    (directory,) = described(admin, None, version)

    assert (directory.error_code, directory.log_dir) == (0, kbroker.data_dir)
    assert partitions(directory) == {("t", 0), ("t", 1)}
    sizes = {one.partition_index: one.partition_size for one in directory.topics[0].partitions}
    assert sizes == {0: 0, 1: size}
    assert {(one.offset_lag, one.is_future_key) for one in directory.topics[0].partitions} == {
        (0, False)
    }
    known = version >= 4
    assert (directory.total_bytes >= directory.usable_bytes > 0) == known
    assert (directory.total_bytes == -1) == (not known)


def test_only_what_was_asked_for_is_listed(admin):
    admin.must_create("t", 3)
    asked = [
        DescribableLogDirTopic(topic="t", partitions=[0, 2, 99]),
        DescribableLogDirTopic(topic="nope", partitions=[0]),
    ]

    assert partitions(described(admin, asked)[0]) == {("t", 0), ("t", 2)}
    assert partitions(described(admin, [])[0]) == set()


def test_every_directory_is_listed_with_its_own_partitions(tmp_path):
    paths = [str(tmp_path / "one"), str(tmp_path / "two")]
    with (
        Broker(data_dir=str(tmp_path), configs={"log.dirs": ",".join(paths)}) as broker,
        Administrator(broker.host, broker.port) as admin,
    ):
        admin.must_create("t", 4)

        results = described(admin, None)

        assert [one.log_dir for one in results] == paths
        assert [len(partitions(one)) for one in results] == [2, 2]
        assert partitions(results[0]) | partitions(results[1]) == {("t", i) for i in range(4)}


def test_a_cordoned_directory_says_so(tmp_path):
    path = str(tmp_path)
    with (
        Broker(data_dir=path, configs={"cordoned.log.dirs": path}) as broker,
        Administrator(broker.host, broker.port) as admin,
    ):
        assert described(admin, None)[0].is_cordoned
