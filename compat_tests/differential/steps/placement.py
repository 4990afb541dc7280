"""Where partitions lie and who leads them, asked of a broker that is alone."""

from collections.abc import Mapping, Sequence

from compat_tests.differential.run import Run
from kbroker.wire.messages import alter_partition_reassignments as reassigning
from kbroker.wire.messages import alter_replica_log_dirs as moving
from kbroker.wire.messages import describe_quorum as quorum
from kbroker.wire.messages import elect_leaders as electing
from kbroker.wire.messages.describe_log_dirs import (
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from kbroker.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)


def elect_leaders(run: Run) -> None:
    run.create("elected", partitions=2)
    for version in (0, 1, 2):
        topics = {"elected": [0, 1, 2, -1], "nowhere": [0]}
        _elect(run, f"elect v{version}", topics, version=version)
    _elect(run, "elect in no partition", {"elected": []})
    _elect(run, "elect nobody", {})
    for kind in (-1, 1, 2):
        _elect(run, f"elect by type {kind}", {"elected": [0]}, election_type=kind)
    for timeout_ms in (0, -1):
        _elect(run, f"elect within {timeout_ms} ms", {"elected": [0]}, timeout_ms=timeout_ms)


def _elect(
    run: Run,
    name: str,
    topics: Mapping[str, Sequence[int]],
    *,
    version: int = 2,
    election_type: int = 0,
    timeout_ms: int = 10_000,
) -> None:
    request = electing.ElectLeadersRequest(
        election_type=election_type,
        topic_partitions=[
            electing.TopicPartitions(topic=topic, partitions=list(indexes))
            for topic, indexes in topics.items()
        ],
        timeout_ms=timeout_ms,
    )
    run.ask(name, request, version)


def reassign_partitions(run: Run) -> None:
    run.create("reassigned", partitions=8)
    wanted = {0: [1], 1: [7], 2: [], 3: None, 4: [1, 1], 5: [-1], 6: [1, 7], 8: [1], -1: [1]}
    for version in (0, 1):
        asked = {"reassigned": wanted, "nowhere": {0: [1], 1: None}}
        _reassign(run, f"reassign v{version}", asked, version=version)
    _reassign(run, "reassign nothing", {})
    _reassign(run, "reassign no partition", {"reassigned": {}})
    for topics in (None, [], ["reassigned"], ["nowhere", "reassigned"]):
        asked_topics = None
        if topics is not None:
            asked_topics = [
                ListPartitionReassignmentsTopics(name=topic, partition_indexes=[0, 99])
                for topic in topics
            ]
        request = ListPartitionReassignmentsRequest(topics=asked_topics, timeout_ms=10_000)
        run.ask(f"reassignments of {topics}", request, 0)


def _reassign(
    run: Run,
    name: str,
    topics: Mapping[str, Mapping[int, list[int] | None]],
    *,
    version: int = 1,
    timeout_ms: int = 10_000,
) -> None:
    request = reassigning.AlterPartitionReassignmentsRequest(
        timeout_ms=timeout_ms,
        topics=[
            reassigning.ReassignableTopic(
                name=topic,
                partitions=[
                    reassigning.ReassignablePartition(partition_index=index, replicas=replicas)
                    for index, replicas in partitions.items()
                ],
            )
            for topic, partitions in topics.items()
        ],
    )
    run.ask(name, request, version)


def alter_replica_log_dirs(run: Run) -> None:
    run.create("placed", partitions=2)
    request = DescribeLogDirsRequest(topics=None)
    [directory] = run.quietly(request, DescribeLogDirsResponse, 4).results
    for version in (1, 2):
        for kind, path in (
            ("its own directory", directory.log_dir),
            ("its own directory, with a slash", directory.log_dir + "/"),
            ("no directory", ""),
            ("a relative directory", "data"),
            ("another directory", "/nowhere"),
        ):
            names = ("placed", "nowhere", "y" * 249, "y" * 213, "y" * 214)
            topics = [
                moving.AlterReplicaLogDirTopic(name=name, partitions=[0, 1, 2, -1])
                for name in names
            ]
            one = moving.AlterReplicaLogDir(path=path, topics=topics)
            name = f"move to {kind} v{version}"
            run.ask(name, moving.AlterReplicaLogDirsRequest(dirs=[one]), version)
    run.ask("move nothing", moving.AlterReplicaLogDirsRequest(dirs=[]), 2)


def describe_quorum(run: Run) -> None:
    for version in (0, 1, 2):
        for kind, asked in (
            ("the metadata", [("__cluster_metadata", [0])]),
            ("another partition", [("__cluster_metadata", [1])]),
            ("two partitions", [("__cluster_metadata", [0, 1])]),
            ("another topic", [("placed", [0])]),
            ("two topics", [("__cluster_metadata", [0]), ("placed", [0])]),
            ("nothing", []),
        ):
            topics = [
                quorum.RequestTopicData(
                    topic_name=topic,
                    partitions=[
                        quorum.RequestPartitionData(partition_index=index) for index in indexes
                    ],
                )
                for topic, indexes in asked
            ]
            name = f"quorum of {kind} v{version}"
            run.ask(name, quorum.DescribeQuorumRequest(topics=topics), version)
