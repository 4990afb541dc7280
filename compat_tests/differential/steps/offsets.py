"""ListOffsets, OffsetForLeaderEpoch, DeleteRecords, DescribeProducers and DescribeLogDirs."""

from compat_tests.differential.run import Run
from compat_tests.differential.steps.produce import produce_to
from kbroker.wire.messages import describe_log_dirs as log_dirs
from kbroker.wire.messages import describe_producers as producers
from kbroker.wire.messages import offset_for_leader_epoch as epochs
from kbroker.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kbroker.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

NEWEST = 11
LATEST, EARLIEST = -1, -2


def list_offsets(run: Run) -> None:
    run.create("listed", partitions=2)
    # The second batch holds the largest timestamp, and not in its last record.
    for number, at in enumerate((0, 60_000, 30_000)):
        produce_to(run, f"batch {number} to listed", "listed", run.batch(b"a", b"b", at=at))
    for version in range(1, NEWEST + 1):
        # -3 is for the max timestamp, -4 the local log, -5 the tiered one, -6 what is not tiered.
        for special in range(-6, 0):
            list_offset(run, f"offset of {special} v{version}", special, version=version)
        list_offset(run, f"offset of a time v{version}", run.t0 + 1000, version=version)
    for special in (-7, -100, -(2**63)):
        list_offset(run, f"offset of {special}", special)
    for kind, at in (
        ("long before", -86_400_000),
        ("the first record", 0),
        ("between two", 500),
        ("the middle", 30_000),
        ("between two batches", 45_000),
        ("the last time", 61_000),
        ("after everything", 61_001),
    ):
        list_offset(run, f"offset of {kind}", run.t0 + at)
    list_offset(run, "offset of time zero", 0)
    for special in range(-6, 0):
        list_offset(run, f"offset of {special} in an empty partition", special, index=1)
    list_offset(run, "offset of a time in an empty partition", run.t0, index=1)
    for level in (0, 1, 2):
        for when in (LATEST, EARLIEST, -3, run.t0 + 500):
            what = str(when) if when < 0 else "a time"
            list_offset(run, f"offset of {what} with isolation level {level}", when, level=level)
    for epoch in (-2, 0, 1, 9):
        list_offset(run, f"latest offset in leader epoch {epoch}", LATEST, epoch=epoch)
    for version in (1, NEWEST):
        list_offset(
            run, f"offset of an unknown topic v{version}", LATEST, topic="nope", version=version
        )
    list_offset(run, "offset of an unknown partition", LATEST, index=9)
    list_offset(run, "offset of an invalid topic", LATEST, topic="a b")
    for replica in (-2, -3, 0, 1, 7):
        list_offset(run, f"latest offset as replica {replica}", LATEST, replica=replica)
    run.ask("offsets of nothing", ListOffsetsRequest(replica_id=-1), NEWEST)
    partitions = [ListOffsetsPartition(timestamp=one) for one in (LATEST, EARLIEST)]
    twice = [ListOffsetsTopic(name="listed", partitions=partitions)]
    run.ask("two offsets of one partition", ListOffsetsRequest(replica_id=-1, topics=twice), NEWEST)
    for special in (LATEST, EARLIEST, -3):
        list_offset(run, f"offset of {special} in log append time", special, topic="stamped")


def list_offset(
    run: Run,
    name: str,
    timestamp: int,
    *,
    topic: str = "listed",
    index: int = 0,
    version: int = NEWEST,
    level: int = 0,
    epoch: int = -1,
    replica: int = -1,
) -> None:
    wanted = ListOffsetsPartition(
        partition_index=index, current_leader_epoch=epoch, timestamp=timestamp
    )
    request = ListOffsetsRequest(
        replica_id=replica,
        isolation_level=level,
        topics=[ListOffsetsTopic(name=topic, partitions=[wanted])],
        timeout_ms=1000 if version >= 10 else 0,
    )
    run.ask(name, request, version)


def offset_for_leader_epoch(run: Run) -> None:
    for version in (2, 3, 4):
        _end_of(run, f"end of epoch 0 v{version}", 0, version=version)
    for epoch in (-1, -2, 1, 7):
        _end_of(run, f"end of epoch {epoch}", epoch)
    _end_of(run, "end of epoch 0 in an empty partition", 0, index=1)
    for current in (0, 1, 5, -2):
        _end_of(run, f"end of epoch 0, asked in epoch {current}", 0, current=current)
    _end_of(run, "end of an epoch of an unknown topic", 0, topic="nowhere")
    _end_of(run, "end of an epoch of an unknown partition", 0, index=9)
    _end_of(run, "end of an epoch for replica 1", 0, replica=1)
    _end_of(run, "end of an epoch for a consumer", 0, replica=-1)
    run.ask("ends of nothing", epochs.OffsetForLeaderEpochRequest(), 4)


def _end_of(
    run: Run,
    name: str,
    epoch: int,
    *,
    topic: str = "listed",
    index: int = 0,
    current: int = -1,
    version: int = 4,
    replica: int = -2,
) -> None:
    wanted = epochs.OffsetForLeaderPartition(
        partition=index, current_leader_epoch=current, leader_epoch=epoch
    )
    topics = [epochs.OffsetForLeaderTopic(topic=topic, partitions=[wanted])]
    request = epochs.OffsetForLeaderEpochRequest(replica_id=replica, topics=topics)
    run.ask(name, request, version)


def delete_records(run: Run) -> None:
    run.create("shortened")
    for number in range(3):
        batch = run.batch(b"a", b"b", b"c", at=number * 1000)
        produce_to(run, f"batch {number} to shortened", "shortened", batch)
    for version, offset in ((0, 1), (1, 2), (2, 4)):
        delete_before(run, f"delete records before {offset} v{version}", offset, version=version)
    for offset in (4, 3, 0, -2, 10, 2**62):
        delete_before(run, f"delete records before {offset}", offset)
    for kind, offset in (("earliest", EARLIEST), ("latest", LATEST)):
        list_offset(run, f"{kind} offset after deleting", offset, topic="shortened")
    produce_to(run, "a batch after deleting", "shortened", run.batch(b"d"))
    delete_before(run, "delete all records", -1)
    delete_before(run, "delete all records again", -1)
    list_offset(run, "earliest offset after deleting all", EARLIEST, topic="shortened")
    list_offset(run, "max timestamp after deleting all", -3, topic="shortened")
    list_offset(run, "offset of a time after deleting all", run.t0, topic="shortened")
    produce_to(run, "a batch after deleting all", "shortened", run.batch(b"e"))
    delete_before(run, "delete records of an unknown topic", 0, topic="nowhere")
    delete_before(run, "delete records of an unknown partition", 0, index=4)
    delete_before(run, "delete records of an invalid topic", 0, topic="a b")
    delete_before(run, "delete records of a compacted topic", 0, topic="compacted")
    delete_before(run, "delete records of an empty partition", 0, topic="listed", index=1)
    delete_before(run, "delete all records of an empty partition", -1, topic="listed", index=1)
    run.ask("delete no records", DeleteRecordsRequest(timeout_ms=1000), 2)


def delete_before(
    run: Run, name: str, offset: int, *, topic: str = "shortened", index: int = 0, version: int = 2
) -> None:
    wanted = DeleteRecordsPartition(partition_index=index, offset=offset)
    topics = [DeleteRecordsTopic(name=topic, partitions=[wanted])]
    run.ask(name, DeleteRecordsRequest(topics=topics, timeout_ms=5000), version)


def describe_producers(run: Run) -> None:
    for kind, topic, indexes in (
        ("idempotent", "idempotent", [0, 1]),
        ("a topic without any", "listed", [0]),
        ("an unknown topic", "nowhere", [0]),
        ("an unknown partition", "listed", [0, 8]),
        ("an invalid topic", "a b", [0]),
        ("no partition", "listed", []),
    ):
        topics = [producers.TopicRequest(name=topic, partition_indexes=indexes)]
        run.ask(f"producers of {kind}", producers.DescribeProducersRequest(topics=topics), 0)
    run.ask("producers of nothing", producers.DescribeProducersRequest(), 0)


def describe_log_dirs(run: Run) -> None:
    for version in range(1, 5):
        _log_dirs(run, f"log dirs of a topic v{version}", ("read", [0, 1]), version=version)
    _log_dirs(run, "log dirs of one partition", ("read", [1]))
    _log_dirs(run, "log dirs of an unknown topic", ("nowhere", [0]))
    _log_dirs(run, "log dirs of an unknown partition", ("read", [9]))
    _log_dirs(run, "log dirs of no topics")
    _log_dirs(run, "log dirs of no partitions", ("read", []))


def _log_dirs(run: Run, name: str, *topics: tuple[str, list[int]], version: int = 4) -> None:
    wanted = [
        log_dirs.DescribableLogDirTopic(topic=topic, partitions=indexes)
        for topic, indexes in topics
    ]
    run.ask(name, log_dirs.DescribeLogDirsRequest(topics=wanted), version)
