import pytest

from kbroker.broker.log_dirs import describe_log_dirs
from kbroker.broker.partition import Partition
from kbroker.config import BrokerConfig, TopicConfig
from kbroker.log import PartitionLog
from kbroker.model import TopicPartition, Uuid


class NoFlusher:
    def request(self, partition):
        raise AssertionError("nothing is written here")


def partition(directory, index):
    log = PartitionLog.open(
        f"{directory}/t-{index}",
        topic_partition=TopicPartition("t", index),
        topic_id=Uuid(b"0123456789abcdef"),
        config=TopicConfig.of(BrokerConfig.of({}), {}),
        now_ms=0,
    )
    return Partition(log, leader_epoch=0, flusher=NoFlusher())


@pytest.fixture
def two(tmp_path, monkeypatch):
    """Two data directories, one partition in each; the process stands above them."""
    monkeypatch.chdir(tmp_path)
    made = []
    for index, name in enumerate(("one", "two")):
        (tmp_path / name).mkdir()
        made.append(partition(tmp_path / name, index))
    yield made
    for each in made:
        each.log.close(clean=False)


def test_paths_are_absolute_however_they_were_configured(two, tmp_path):
    first, second = describe_log_dirs(["one/", f"{tmp_path}/./two"], two, [])

    assert (first.path, second.path) == (str(tmp_path / "one"), str(tmp_path / "two"))
    assert (first.partitions, second.partitions) == (two[:1], two[1:])
    assert first.total_bytes >= first.usable_bytes > 0


def test_a_directory_whose_disk_failed_is_offline_and_shows_nothing(two):
    two[0].offline = True

    first, second = describe_log_dirs(["one", "two"], two, [])

    assert (first.offline, first.partitions, first.total_bytes) == (True, [], -1)
    assert (second.offline, second.partitions) == (False, two[1:])


def test_a_directory_that_is_gone_is_offline(tmp_path):
    (described,) = describe_log_dirs([str(tmp_path / "nowhere")], [], [])

    assert described.offline


@pytest.mark.parametrize(
    ("cordoned", "expected"), [([], [False, False]), (["two"], [False, True]), (["*"], [True] * 2)]
)
def test_cordoned_directories_are_marked(two, cordoned, expected):
    described = describe_log_dirs(["one", "two"], two, cordoned)

    assert [one.cordoned for one in described] == expected
