"""The coordinator over the wire: where groups live, and what survives what."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbroker.broker.coordinator import partition_of_key
from kbroker.client.connection import Connection
from kbroker.records import Record, build_batch
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kbroker.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kbroker.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from kbroker.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from kbroker.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from kbroker.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from tests.broker.conversation import Conversation


@pytest.mark.parametrize(
    ("group_id", "partition"),
    # What Kafka's coordinatorFor gives with 50 partitions: abs("...".hashCode()) % 50.
    [("", 0), ("g", 3), ("group", 47), ("console-consumer-42", 37), ("größe", 7), ("😀", 49)],
)
def test_a_group_lives_where_javas_hash_says(group_id, partition):
    assert partition_of_key(group_id, 50) == partition


def test_the_smallest_hash_is_partition_zero():
    """Java's abs of it is negative; Kafka makes it zero. This text is known to have it."""
    assert partition_of_key("polygenelubricants", 50) == 0


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Conversation]:
    with Broker(data_dir=str(tmp_path)) as broker:
        conversation = Conversation.with_broker(broker)
        find_coordinator(conversation.connection, "g")
        yield conversation
        conversation.connection.close()


def find_coordinator(connection: Connection, group_id: str) -> int:
    request = FindCoordinatorRequest(key=group_id)
    answer = connection.ask(request, FindCoordinatorResponse, version=1)
    assert answer.error_code == ErrorCode.NONE, answer
    return answer.node_id


def commit(talk: Conversation, topic: str, offset: int, *, group_id: str = "g") -> int:
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_metadata="note"
    )
    request = OffsetCommitRequest(
        group_id=group_id, topics=[OffsetCommitRequestTopic(name=topic, partitions=[partition])]
    )
    answer = talk.connection.ask(request, OffsetCommitResponse, version=8)
    return answer.topics[0].partitions[0].error_code


def committed(talk: Conversation, topic: str, *, group_id: str = "g") -> int:
    wanted = OffsetFetchRequestTopics(name=topic, partition_indexes=[0])
    group = OffsetFetchRequestGroup(group_id=group_id, topics=[wanted])
    answer = talk.connection.ask(OffsetFetchRequest(groups=[group]), OffsetFetchResponse, version=8)
    assert answer.groups[0].error_code == ErrorCode.NONE, answer
    return answer.groups[0].topics[0].partitions[0].committed_offset


def test_whoever_asks_for_a_coordinator_makes_the_topic(talk: Conversation):
    assert find_coordinator(talk.connection, "another") == 1


def test_there_is_no_coordinator_of_share_groups(talk: Conversation):
    request = FindCoordinatorRequest(key_type=2, coordinator_keys=["t"])
    answer = talk.connection.ask(request, FindCoordinatorResponse, version=6)

    assert answer.coordinators[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_an_offset_is_committed_and_fetched(talk: Conversation):
    talk.create_topic("orders")

    assert committed(talk, "orders") == -1
    assert commit(talk, "orders", 7) == ErrorCode.NONE
    assert committed(talk, "orders") == 7


def test_an_offset_committed_by_name_is_written_with_the_id_of_its_topic(
    talk: Conversation, tmp_path: Path
):
    """Apache Kafka does so too, whatever the version of the request."""
    topic_id = talk.create_topic("orders")
    commit(talk, "orders", 7)

    logs = (tmp_path / f"__consumer_offsets-{partition_of_key('g', 50)}").glob("*.log")
    assert topic_id in b"".join(path.read_bytes() for path in logs)


def test_offsets_of_unknown_partitions_are_refused(talk: Conversation):
    assert commit(talk, "nowhere", 7) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_the_offsets_of_a_deleted_topic_are_forgotten(talk: Conversation):
    from kbroker.wire.messages.delete_topics import DeleteTopicsRequest

    talk.create_topic("orders")
    commit(talk, "orders", 7)
    talk.connection.request(DeleteTopicsRequest(topic_names=["orders"], timeout_ms=5000), 5)
    talk.create_topic("orders")

    assert committed(talk, "orders") == -1


def wait_until_loaded(talk: Conversation) -> None:
    """G1: until all records are replayed, nobody is told anything else."""
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g")])
    deadline = time.monotonic() + 30
    while True:
        answer = talk.connection.ask(request, OffsetFetchResponse, version=8)
        if answer.groups[0].error_code == ErrorCode.NONE:
            return
        assert answer.groups[0].error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert time.monotonic() < deadline
        time.sleep(0.01)


def join(talk: Conversation, member_id: str = "") -> JoinGroupResponse:
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id=member_id,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"subscription")],
    )
    return talk.connection.ask(request, JoinGroupResponse, version=5)


def test_a_member_joins_syncs_and_beats(talk: Conversation):
    first = join(talk)
    assert first.error_code == ErrorCode.MEMBER_ID_REQUIRED
    joined = join(talk, first.member_id)
    assert (joined.error_code, joined.generation_id) == (ErrorCode.NONE, 1)
    assert joined.leader == joined.member_id

    sync = SyncGroupRequest(group_id="g", generation_id=1, member_id=joined.member_id)
    assert talk.connection.ask(sync, SyncGroupResponse, version=3).error_code == ErrorCode.NONE
    beat = HeartbeatRequest(group_id="g", generation_id=1, member_id=joined.member_id)
    assert talk.connection.ask(beat, HeartbeatResponse, version=3).error_code == ErrorCode.NONE


def test_groups_and_offsets_survive_a_restart(tmp_path: Path):
    """G9: what was committed before a stop is committed after it."""
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        find_coordinator(talk.connection, "g")
        talk.create_topic("orders")
        for offset in range(50):
            assert commit(talk, "orders", offset) == ErrorCode.NONE
        member_id = join(talk, join(talk).member_id).member_id
        sync = SyncGroupRequest(group_id="g", generation_id=1, member_id=member_id)
        talk.connection.request(sync, 3)
        talk.connection.close()

    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        beat = HeartbeatRequest(group_id="g", generation_id=1, member_id=member_id)
        wait_until_loaded(talk)
        assert talk.connection.ask(beat, HeartbeatResponse, version=3).error_code == ErrorCode.NONE
        assert committed(talk, "orders") == 49
        talk.connection.close()


def test_a_record_that_makes_no_sense_costs_no_other_group(tmp_path: Path):
    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        find_coordinator(talk.connection, "g")
        talk.create_topic("orders")
        commit(talk, "orders", 7)
        # The admin client's id may write to internal topics.
        with Connection(broker.host, broker.port, client_id="__admin_client") as stranger:
            nonsense = build_batch(
                [Record(0, 0, b"\x00\x01\xff", b"\x00\x03"), Record(1, 0, b"", b"")]
            )
            answer = Conversation(stranger).produce("__consumer_offsets", nonsense, partition=3)
            assert answer.error_code == ErrorCode.NONE, answer
        talk.connection.close()

    with Broker(data_dir=str(tmp_path)) as broker:
        talk = Conversation.with_broker(broker)
        wait_until_loaded(talk)
        assert committed(talk, "orders") == 7
        talk.connection.close()
