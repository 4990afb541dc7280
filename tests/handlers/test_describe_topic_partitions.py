import pytest

from kbroker.broker.resources import TOPIC_OPERATIONS
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    RequestCursor,
    TopicRequest,
)
from tests.handlers.administrator import Administrator


def page(admin, *names, limit=2000, cursor=None):
    """Topics with their error or their partitions, and the next cursor."""
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None
        if cursor is None
        else RequestCursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    answer = admin.ask(request, DescribeTopicPartitionsResponse)
    described = [
        (
            topic.name,
            ErrorCode(topic.error_code).name
            if topic.error_code
            else [partition.partition_index for partition in topic.partitions],
        )
        for topic in answer.topics
    ]
    following = answer.next_cursor
    return described, following and (following.topic_name, following.partition_index)


@pytest.fixture
def three(admin):
    """Topics with one, two and three partitions."""
    for partitions, name in enumerate("abc", 1):
        admin.must_create(name, partitions)
    return admin


def test_a_topic_is_told_in_full(admin):
    topic_id = admin.must_create("t", 1)

    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name="t")])
    (topic,) = admin.ask(request, DescribeTopicPartitionsResponse).topics

    assert (topic.topic_id, topic.is_internal) == (topic_id, False)
    assert topic.topic_authorized_operations == TOPIC_OPERATIONS
    (partition,) = topic.partitions
    assert (partition.leader_id, partition.leader_epoch) == (1, 0)
    assert (partition.replica_nodes, partition.isr_nodes) == ([1], [1])
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])
    assert partition.offline_replicas == []


def test_without_names_all_topics_come_in_the_order_of_their_names(three):
    three.must_create("__consumer_offsets")

    assert page(three) == (
        [("__consumer_offsets", [0]), ("a", [0]), ("b", [0, 1]), ("c", [0, 1, 2])],
        None,
    )


def test_a_full_page_says_where_the_next_one_begins(three):
    assert page(three, limit=2) == ([("a", [0]), ("b", [0])], ("b", 1))
    assert page(three, limit=2, cursor=("b", 1)) == ([("b", [1]), ("c", [0])], ("c", 1))
    assert page(three, limit=2, cursor=("c", 1)) == ([("c", [1, 2])], None)


def test_a_page_that_ends_with_a_topic_points_at_the_next_one(three):
    assert page(three, limit=3) == ([("a", [0]), ("b", [0, 1])], ("c", 0))


def test_a_page_has_at_least_one_partition(three):
    assert page(three, limit=0) == ([("a", [0])], ("b", 0))
    assert page(three, limit=-1) == ([("a", [0])], ("b", 0))


def test_the_broker_limits_pages_too():
    with (
        Broker(configs={"max.request.partition.size.limit": "2"}) as broker,
        Administrator(broker.host, broker.port) as admin,
    ):
        admin.must_create("t", 3)

        assert page(admin, "t") == ([("t", [0, 1])], ("t", 2))


def test_missing_topics_are_errors_that_take_no_room(three):
    assert page(three, "c", "nope", "bad/", "a", "a", limit=3) == (
        [("a", [0]), ("bad/", "INVALID_TOPIC_EXCEPTION"), ("c", [0, 1])],
        ("c", 2),
    )
    assert page(three, "nope") == ([("nope", "UNKNOWN_TOPIC_OR_PARTITION")], None)


def test_a_cursor_may_lie_behind_the_end(three):
    assert page(three, "c", cursor=("c", 20)) == ([("c", [])], None)
    assert page(three, cursor=("d", 0)) == ([], None)


def test_a_cursor_that_makes_no_sense_is_refused(three):
    assert page(three, "a", cursor=("b", 0)) == ([("a", "INVALID_REQUEST")], None)
    assert page(three, "a", cursor=("a", -1)) == ([("a", "INVALID_REQUEST")], None)
