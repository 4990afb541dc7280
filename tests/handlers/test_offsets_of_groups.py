"""Offsets of groups that have no members, as plain requests."""

from collections.abc import Iterator

import pytest

from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from kbroker.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kbroker.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kbroker.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from kbroker.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from tests.handlers.administrator import Administrator

NONE, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.fixture(scope="module")
def admin() -> Iterator[Administrator]:
    configs = {"offsets.topic.num.partitions": "1"}
    with (
        Broker(configs=configs) as broker,
        Administrator(broker.host, broker.port) as administrator,
    ):
        administrator.must_create("t", 2)
        # The topic for offsets comes to be when somebody first looks for a coordinator.
        request = FindCoordinatorRequest(coordinator_keys=["g"])
        [found] = administrator.ask(request, FindCoordinatorResponse, version=4).coordinators
        assert found.error_code == NONE
        yield administrator


def commit(admin, group, *indexes, topic="t"):
    request = OffsetCommitRequest(
        group_id=group,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(partition_index=index, committed_offset=7)
                    for index in indexes
                ],
            )
        ],
    )
    return answers(admin.ask(request, OffsetCommitResponse, version=9))


def answers(response):
    """What was answered, topic by topic; each must be there once."""
    told = [
        (topic.name, {one.partition_index: ErrorCode(one.error_code) for one in topic.partitions})
        for topic in response.topics
    ]
    assert len(dict(told)) == len(told)
    return dict(told)


def committed(admin, group):
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
    request = OffsetFetchRequest(group_id=group, topics=topics)
    answer = admin.ask(request, OffsetFetchResponse, version=7)
    assert answer.error_code == NONE
    return answer.topics[0].partitions[0].committed_offset


def test_a_topic_is_answered_once_though_some_partitions_do_not_exist(admin):
    assert commit(admin, "g", 0, 5, 1, -1) == {"t": {0: NONE, 1: NONE, 5: UNKNOWN, -1: UNKNOWN}}
    assert commit(admin, "g", 0, topic="nope") == {"nope": {0: UNKNOWN}}


def test_offsets_may_be_committed_for_the_group_without_a_name(admin):
    assert commit(admin, "", 0) == {"t": {0: NONE}}
    assert committed(admin, "") == 7

    request = DeleteGroupsRequest(groups_names=[""])
    [result] = admin.ask(request, DeleteGroupsResponse, version=2).results
    assert result.error_code == NONE
    assert committed(admin, "") == -1


def test_what_does_not_exist_cannot_be_forgotten(admin):
    commit(admin, "h", 0, 1)

    request = OffsetDeleteRequest(
        group_id="h",
        topics=[
            OffsetDeleteRequestTopic(
                name=name,
                partitions=[OffsetDeleteRequestPartition(partition_index=i) for i in (0, 9)],
            )
            for name in ("t", "nope")
        ],
    )
    answer = admin.ask(request, OffsetDeleteResponse, version=0)

    assert answer.error_code == NONE
    assert answers(answer) == {"t": {0: NONE, 9: UNKNOWN}, "nope": {0: UNKNOWN, 9: UNKNOWN}}
    assert committed(admin, "h") == -1
