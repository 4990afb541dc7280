import pytest

from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from kbroker.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    ListPartitionReassignmentsTopics,
)


def reassign(admin, topics, *, version=1, timeout_ms=30_000):
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=timeout_ms,
        topics=[
            ReassignableTopic(
                name=name,
                partitions=[
                    ReassignablePartition(partition_index=index, replicas=replicas)
                    for index, replicas in partitions.items()
                ],
            )
            for name, partitions in topics.items()
        ],
    )
    return admin.ask(request, AlterPartitionReassignmentsResponse, version=version)


def codes(answer):
    return {
        topic.name: {
            one.partition_index: ErrorCode(one.error_code).name for one in topic.partitions
        }
        for topic in answer.responses
    }


@pytest.mark.parametrize("version", [*AlterPartitionReassignmentsRequest.versions])
def test_the_one_broker_is_the_only_place(admin, version):
    admin.must_create("t", 4)

    answer = reassign(
        admin, {"t": {0: [1], 1: [2], 2: [], 3: None, 4: [1]}, "nope": {0: [1]}}, version=version
    )

    assert (answer.error_code, answer.error_message) == (ErrorCode.NONE, None)
    assert codes(answer) == {
        "t": {
            0: "NONE",
            1: "INVALID_REPLICA_ASSIGNMENT",
            2: "INVALID_REPLICA_ASSIGNMENT",
            3: "NO_REASSIGNMENT_IN_PROGRESS",
            4: "UNKNOWN_TOPIC_OR_PARTITION",
        },
        "nope": {0: "UNKNOWN_TOPIC_OR_PARTITION"},
    }
    assert answer.responses[0].partitions[0].error_message is None


def test_without_time_nothing_is_decided(admin):
    admin.must_create("t", 1)

    answer = reassign(admin, {"t": {0: [1]}}, timeout_ms=0)

    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert codes(answer) == {"t": {0: "REQUEST_TIMED_OUT"}}


@pytest.mark.parametrize(
    "topics", [None, [ListPartitionReassignmentsTopics(name="t", partition_indexes=[0, 7])]]
)
def test_none_is_under_way(admin, topics):
    admin.must_create("t", 1)

    request = ListPartitionReassignmentsRequest(topics=topics)
    answer = admin.ask(request, ListPartitionReassignmentsResponse, version=0)

    assert (answer.error_code, answer.error_message, answer.topics) == (ErrorCode.NONE, None, [])
