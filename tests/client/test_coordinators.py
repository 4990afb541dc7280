"""Coordinators that move, load or are old, against brokers that a test scripts."""

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.errors import BadAnswer, BrokerError
from kbroker.client.group_offsets import commit_offsets, committed_offsets
from kbroker.client.groups import ListedGroup, delete_group, describe_group, list_groups
from kbroker.model import TopicPartition
from kbroker.wire import ErrorCode
from kbroker.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from kbroker.wire.messages.consumer_group_describe import ConsumerGroupDescribeResponse
from kbroker.wire.messages.consumer_group_describe import DescribedGroup as ConsumerGroup
from kbroker.wire.messages.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from kbroker.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsResponse,
)
from kbroker.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from kbroker.wire.messages.list_groups import ListedGroup as ListedOnWire
from kbroker.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from kbroker.wire.messages.metadata import MetadataResponse, MetadataResponseBroker
from kbroker.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kbroker.wire.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from tests.client.scene import Scene
from tests.client.scripted_broker import ScriptedBroker, Step, answer

METADATA, OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 3, 8, 9, 10
DESCRIBE_GROUPS, LIST_GROUPS, DELETE_GROUPS, CONSUMER_GROUP_DESCRIBE = 15, 16, 42, 69


@pytest.fixture
def scene() -> Scene:
    return Scene()


def versions(**newest: int) -> Step:
    """What a broker speaks: metadata, and the APIs that are named."""
    known = {METADATA: 8, **{int(key.removeprefix("api_")): last for key, last in newest.items()}}
    oldest = {OFFSET_COMMIT: 2, OFFSET_FETCH: 1}
    return answer(
        ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=key, min_version=oldest.get(key, 0), max_version=last)
                for key, last in known.items()
            ]
        )
    )


def found(scene: Scene, *, error_code: int = 0) -> Step:
    """The scene's broker as the coordinator, in the form of versions 0 to 3."""
    return answer(
        FindCoordinatorResponse(
            error_code=error_code, node_id=1, host="127.0.0.1", port=scene.broker.port
        )
    )


def deleted(error_code: int) -> Step:
    result = DeletableGroupResult(group_id="g", error_code=error_code)
    return answer(DeleteGroupsResponse(results=[result]))


def described(state: str, **fields: object) -> Step:
    group = DescribedGroup(group_id="g", group_state=state, **fields)
    return answer(DescribeGroupsResponse(groups=[group]))


def test_a_coordinator_that_moved_or_loads_is_looked_for_again(scene):
    script = (
        versions(api_10=3, api_42=1),
        *(found(scene, error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE), scene.metadata()),
        *(found(scene), deleted(ErrorCode.NOT_COORDINATOR), scene.metadata()),
        *(found(scene), deleted(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS), scene.metadata()),
        *(found(scene), deleted(ErrorCode.NONE)),
    )
    with scene.play(*script) as broker, scene.cluster() as cluster:
        delete_group(cluster, "g")

        asked = [key for key, _ in broker.requests if key in (FIND_COORDINATOR, DELETE_GROUPS)]
    assert asked == [FIND_COORDINATOR, *[FIND_COORDINATOR, DELETE_GROUPS] * 3]


def test_a_refusal_is_not_tried_again(scene):
    refused = (found(scene), deleted(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    with (
        scene.play(versions(api_10=3, api_42=1), *refused),
        scene.cluster() as cluster,
        pytest.raises(BrokerError, match=r"^g: this is not allowed on the group"),
    ):
        delete_group(cluster, "g")


def test_the_coordinator_may_be_another_broker_than_the_one_that_names_it(scene):
    speaks = versions(api_10=4, api_42=2)
    with ScriptedBroker([speaks, deleted(ErrorCode.NONE)]) as other:
        named = Coordinator(key="g", node_id=2, host="127.0.0.1", port=other.port)
        names_it = answer(FindCoordinatorResponse(coordinators=[named]))
        with scene.play(speaks, names_it), scene.cluster() as cluster:
            delete_group(cluster, "g")

            assert (DELETE_GROUPS, 2) in other.requests


def test_a_coordinator_that_answers_about_nothing_is_a_bad_answer(scene):
    nothing = answer(FindCoordinatorResponse(coordinators=[]))
    with (
        scene.play(versions(api_10=4), nothing),
        scene.cluster() as cluster,
        pytest.raises(BadAnswer, match="named 0 coordinators"),
    ):
        delete_group(cluster, "g")


def test_a_dead_group_of_an_old_broker_is_not_there(scene):
    script = (versions(api_10=3, api_15=5), found(scene), described("Dead"))
    with (
        scene.play(*script),
        scene.cluster() as cluster,
        pytest.raises(BrokerError, match=r"^g: there is no such group \(GROUP_ID_NOT_FOUND\)"),
    ):
        describe_group(cluster, "g")


@pytest.mark.parametrize("code", [ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION])
def test_what_is_no_consumer_group_may_be_a_classic_one(scene, code):
    no_consumer_group = answer(
        ConsumerGroupDescribeResponse(groups=[ConsumerGroup(group_id="g", error_code=code)])
    )
    speaks = versions(api_10=3, api_15=6, api_69=1)
    script = (speaks, found(scene), no_consumer_group, described("Empty", protocol_type="consumer"))
    with scene.play(*script), scene.cluster() as cluster:
        group = describe_group(cluster, "g")

    assert (group.group_type, group.state, group.coordinator_id) == ("classic", "Empty", 1)


def test_the_assignments_of_other_protocols_are_left_alone(scene):
    """Connect's workers keep connectors there, not partitions."""
    worker = DescribedGroupMember(member_id="w", client_host="/::1", member_assignment=b"\0\1abc")
    connect = described("Stable", protocol_type="connect", members=[worker])
    script = (versions(api_10=3, api_15=5), found(scene), connect)
    with scene.play(*script), scene.cluster() as cluster:
        (member,) = describe_group(cluster, "g").members

    assert (member.host, member.partitions) == ("::1", ())


def test_an_old_broker_is_asked_for_states_group_by_group(scene):
    listed = answer(
        ListGroupsResponse(
            groups=[ListedOnWire(group_id=each, protocol_type="consumer") for each in ("a", "b")]
        )
    )
    states = answer(
        DescribeGroupsResponse(
            groups=[
                DescribedGroup(group_id="b", group_state="Stable"),
                DescribedGroup(group_id="a", group_state="Empty"),
            ]
        )
    )
    script = (versions(api_15=2, api_16=3), *[scene.metadata(), listed, states] * 4)
    with scene.play(*script), scene.cluster() as cluster:
        assert list_groups(cluster) == [
            ListedGroup("a", "classic", "consumer", "Empty"),
            ListedGroup("b", "classic", "consumer", "Stable"),
        ]
        assert [group.group_id for group in list_groups(cluster, states=["Stable"])] == ["b"]
        assert list_groups(cluster, types=["consumer"]) == []
        assert len(list_groups(cluster, types=["classic"])) == 2


def test_filters_are_the_brokers_work_where_it_knows_them(scene):
    listed = answer(ListGroupsResponse(groups=[]))
    with (
        scene.play(versions(api_16=5), scene.metadata(), listed) as broker,
        scene.cluster() as cluster,
    ):
        list_groups(cluster, states=["Empty"], types=["consumer"])

        request = ListGroupsRequest.decode(broker.bodies[-1], 5)
    assert (request.states_filter, request.types_filter) == (["Empty"], ["consumer"])


def test_all_brokers_are_asked_for_their_groups(scene):
    def listed(group_id: str) -> Step:
        group = ListedOnWire(group_id=group_id, group_state="Empty", group_type="Classic")
        return answer(ListGroupsResponse(groups=[group]))

    speaks = versions(api_16=5)
    with ScriptedBroker([speaks, listed("a")]) as other:
        both = [
            MetadataResponseBroker(node_id=node_id, host="127.0.0.1", port=port)
            for node_id, port in ((1, scene.broker.port), (2, other.port))
        ]
        metadata = answer(MetadataResponse(brokers=both, controller_id=1))
        with scene.play(speaks, metadata, listed("b")), scene.cluster() as cluster:
            assert [group.group_id for group in list_groups(cluster)] == ["a", "b"]


@pytest.mark.parametrize("version", [2, 5, 7])
def test_offsets_are_fetched_in_the_old_form_too(scene, version):
    partitions = [
        OffsetFetchResponsePartition(partition_index=0, committed_offset=7),
        OffsetFetchResponsePartition(partition_index=1, committed_offset=-1),
    ]
    fetched = answer(
        OffsetFetchResponse(topics=[OffsetFetchResponseTopic(name="t", partitions=partitions)])
    )
    script = (versions(api_9=version, api_10=3), found(scene), fetched)
    with scene.play(*script) as broker, scene.cluster() as cluster:
        assert committed_offsets(cluster, "g") == {TopicPartition("t", 0): 7}

        assert broker.requests[-1] == (OFFSET_FETCH, version)


def test_offsets_are_committed_by_nobody(scene):
    """With no generation and no member id, as the Java admin client does."""
    done = OffsetCommitResponsePartition(partition_index=1)
    committed = answer(
        OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="t", partitions=[done])])
    )
    script = (versions(api_8=10, api_10=3), found(scene), committed)
    with scene.play(*script) as broker, scene.cluster() as cluster:
        commit_offsets(cluster, "g", {TopicPartition("t", 1): 5})

        assert broker.requests[-1] == (OFFSET_COMMIT, 9), "the last version with names"
        request = OffsetCommitRequest.decode(broker.bodies[-1], 9)
    assert (request.generation_id_or_member_epoch, request.member_id) == (-1, "")
    assert request.topics[0].partitions[0].committed_offset == 5


def test_a_member_that_joined_meanwhile_keeps_its_offsets(scene):
    refused = OffsetCommitResponsePartition(
        partition_index=1, error_code=ErrorCode.UNKNOWN_MEMBER_ID
    )
    answered = answer(
        OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="t", partitions=[refused])])
    )
    script = (versions(api_8=9, api_10=3), found(scene), answered)
    with (
        scene.play(*script),
        scene.cluster() as cluster,
        pytest.raises(BrokerError, match=r"^g: t-1: the group has members"),
    ):
        commit_offsets(cluster, "g", {TopicPartition("t", 1): 5})


def test_a_coordinator_that_went_away_is_looked_for_again(scene):
    """The one that answers knows the cluster; a dead coordinator must not end the command."""
    other = ScriptedBroker([versions(api_10=3, api_42=1), lambda _header, _body: b""])
    moved = answer(FindCoordinatorResponse(node_id=2, host="127.0.0.1", port=other.port))
    script = (
        versions(api_10=3, api_42=1),
        *(moved, scene.metadata(), found(scene), deleted(ErrorCode.NONE)),
    )
    with other, scene.play(*script) as broker, Cluster(f"127.0.0.1:{scene.broker.port}") as cluster:
        delete_group(cluster, "g")

        assert broker.requests[-1] == (DELETE_GROUPS, 1)
        assert other.requests[-1] == (DELETE_GROUPS, 1)
