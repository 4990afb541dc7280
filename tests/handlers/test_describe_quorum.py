import time

import pytest

from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RequestPartitionData,
    RequestTopicData,
)


def quorum(admin, *asked, version=2):
    request = DescribeQuorumRequest(
        topics=[
            RequestTopicData(
                topic_name=name, partitions=[RequestPartitionData(partition_index=index)]
            )
            for name, index in asked
        ]
    )
    return admin.ask(request, DescribeQuorumResponse, version=version)


@pytest.mark.parametrize("version", [*DescribeQuorumRequest.versions])
def test_the_one_voter_leads_and_is_not_behind(admin, version):
    answer = quorum(admin, ("__cluster_metadata", 0), version=version)

    assert answer.error_code == ErrorCode.NONE
    ((partition,),) = [topic.partitions for topic in answer.topics]
    (voter,) = partition.current_voters
    assert (partition.error_code, partition.leader_id, voter.replica_id) == (0, 1, 1)
    assert voter.log_end_offset == partition.high_watermark > 0
    assert partition.leader_epoch > 0
    assert partition.observers == []
    if version >= 1:
        assert abs(voter.last_caught_up_timestamp - time.time() * 1000) < 60_000
    if version >= 2:
        assert [node.node_id for node in answer.nodes] == [1]


def test_a_change_of_the_metadata_moves_the_offset(admin):
    before = quorum(admin, ("__cluster_metadata", 0)).topics[0].partitions[0]
    admin.must_create("t", 1)
    after = quorum(admin, ("__cluster_metadata", 0)).topics[0].partitions[0]

    assert after.high_watermark > before.high_watermark
    assert after.leader_epoch == before.leader_epoch


@pytest.mark.parametrize(
    "asked",
    [
        [("__cluster_metadata", 1)],
        [("t", 0)],
        [("__cluster_metadata", 0), ("t", 0)],
    ],
)
def test_there_is_one_partition_of_metadata_and_no_other(admin, asked):
    answer = quorum(admin, *asked)

    assert answer.error_code == ErrorCode.NONE
    assert [topic.topic_name for topic in answer.topics] == [name for name, _ in asked]
    for topic in answer.topics:
        assert [one.error_code for one in topic.partitions] == [
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        ]
