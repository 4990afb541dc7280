from pathlib import Path

import pytest

from kbroker.log import CorruptLog, LogDirectory, MetaProperties, StorageError
from kbroker.log.log_directory import parse_directory_name
from kbroker.model import TopicPartition
from tests.log.samples import FAST_DISK, ORDERS, TOPIC_ID, append, batch, open_log


def directory_at(path: Path) -> LogDirectory:
    return LogDirectory.open(str(path), disk=FAST_DISK)


def test_the_clean_shutdown_marker_counts_once(tmp_path: Path) -> None:
    """R15, R17."""
    first = directory_at(tmp_path)
    assert (first.was_clean, first.clean_broker_epoch) == (False, -1)
    first.write_clean_marker(42)
    first.close()
    assert (tmp_path / ".kafka_cleanshutdown").read_text() == '{"version":0,"brokerEpoch":42}'
    second = directory_at(tmp_path)
    assert (second.was_clean, second.clean_broker_epoch) == (True, 42)
    second.close()
    third = directory_at(tmp_path)
    assert not third.was_clean
    third.close()


@pytest.mark.parametrize("content", ["", "no json", "[]", '{"version":0}'])
def test_a_marker_without_an_epoch_is_still_a_marker(tmp_path: Path, content: str) -> None:
    (tmp_path / ".kafka_cleanshutdown").write_text(content)
    directory = directory_at(tmp_path)
    assert (directory.was_clean, directory.clean_broker_epoch) == (True, -1)
    directory.close()


def test_meta_properties_come_back(tmp_path: Path) -> None:
    directory = directory_at(tmp_path)
    assert directory.meta is None
    meta = MetaProperties("a2Jyb2tlci1hcGFjaGUtMQ", 3, "AAECAwQFBgcICQoLDA0ODw")
    directory.write_meta(meta)
    directory.close()
    again = directory_at(tmp_path)
    assert again.meta == meta
    again.close()
    lines = (tmp_path / "meta.properties").read_text().splitlines()
    assert {"version=1", "node.id=3"} <= set(lines)


@pytest.mark.parametrize(
    "text", ["version=0\n", "version=1\nnode.id=x\ncluster.id=a\n", "version=1\n"]
)
def test_meta_properties_that_make_no_sense_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "meta.properties").write_text(text)
    with pytest.raises(CorruptLog):
        directory_at(tmp_path)
    (tmp_path / "meta.properties").unlink()
    directory_at(tmp_path).close()  # the lock was given back


def test_the_checkpoints_are_kafkas(tmp_path: Path) -> None:
    directory = directory_at(tmp_path)
    offsets = {ORDERS: 7, TopicPartition("a.b_c-d", 0): 2**40}
    for name, read, write in (
        (
            "recovery-point-offset-checkpoint",
            directory.read_recovery_points,
            directory.write_recovery_points,
        ),
        (
            "log-start-offset-checkpoint",
            directory.read_log_start_offsets,
            directory.write_log_start_offsets,
        ),
        (
            "replication-offset-checkpoint",
            directory.read_high_watermarks,
            directory.write_high_watermarks,
        ),
        (
            "cleaner-offset-checkpoint",
            directory.read_cleaner_offsets,
            directory.write_cleaner_offsets,
        ),
    ):
        assert read() == {}
        write(offsets)
        assert (tmp_path / name).read_text() == f"0\n2\norders 3 7\na.b_c-d 0 {2**40}\n"
        assert read() == offsets
    directory.close()


def test_a_checkpoint_that_makes_no_sense_is_refused(tmp_path: Path) -> None:
    (tmp_path / "recovery-point-offset-checkpoint").write_text("0\n1\norders 3\n")
    directory = directory_at(tmp_path)
    with pytest.raises(CorruptLog):
        directory.read_recovery_points()
    directory.close()


def test_partitions_are_found_and_deleted_ones_are_not(tmp_path: Path) -> None:
    directory = directory_at(tmp_path)
    log = open_log(tmp_path)
    append(log, batch())
    log.close(clean=True)
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "gone-0.0123456789abcdef0123456789abcdef-delete").mkdir()
    (found,) = directory.partitions()
    assert (found.topic_partition, found.topic_id) == (ORDERS, TOPIC_ID)
    assert found.path == directory.partition_path(ORDERS)
    (deleted,) = directory.deleted_directories()
    deleted.purge()
    assert directory.deleted_directories() == []
    directory.close()


def test_names_of_directories_are_topic_and_number() -> None:
    assert parse_directory_name("a-b-12") == TopicPartition("a-b", 12)
    for name in ("a", "-1", "a-", "a-x", "a-1.0123-delete", "a-1.0123-future", "a-1.0123-stray"):
        assert parse_directory_name(name) is None


def test_a_directory_has_one_user(tmp_path: Path) -> None:
    """Locks are between processes, so another one must ask."""
    import subprocess
    import sys

    directory = directory_at(tmp_path)
    program = (
        "import sys; from kbroker.log import LogDirectory, StorageError\n"
        "try: LogDirectory.open(sys.argv[1])\n"
        "except StorageError: sys.exit(7)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    assert subprocess.run(command, timeout=60, check=False).returncode == 7
    directory.close()
    assert subprocess.run(command, timeout=60, check=False).returncode == 0


def test_a_path_that_is_no_directory_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        directory_at(tmp_path / "file")
