import pytest

from kbroker.cluster import MorePartitions, NewTopic, Refused, create_partitions
from kbroker.cluster.keys import topic_key
from kbroker.cluster.values import TopicValue
from tests.cluster.world import world


@pytest.fixture
def w():
    made = world(brokers=3)
    made.create(NewTopic("a", 2, 2), NewTopic("b", 1, 1))
    return made


def decide(w, *topics, **arguments):
    return create_partitions(w.image, topics, **{"start": 0, "fence": w.fence, **arguments})


def test_new_partitions_follow_the_old_ones(w):
    old = w.image.topics["a"].partitions

    decision = decide(w, MorePartitions("a", 5))
    assert w.write(decision.change)

    topic = w.image.topics["a"]
    assert decision.results == {"a": None}
    assert topic.partitions[:2] == old
    assert [p.partition for p in topic.partitions] == [0, 1, 2, 3, 4]
    assert all(len(p.replicas) == 2 and p.leader == p.replicas[0] for p in topic.partitions)
    assert list(w.deltas[-1].changed) == ["a"]


def test_new_partitions_go_where_the_client_says(w):
    decision = decide(w, MorePartitions("a", 4, ((3, 1), (2, 1))))
    assert w.write(decision.change)

    assert [p.replicas for p in w.image.topics["a"].partitions[2:]] == [(3, 1), (2, 1)]


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (MorePartitions("c", 5), "UNKNOWN_TOPIC_OR_PARTITION", "does not host"),
        (MorePartitions("a", 2), "INVALID_PARTITIONS", "Topic already has 2 partition(s)."),
        (
            MorePartitions("a", 1),
            "INVALID_PARTITIONS",
            "The topic a currently has 2 partition(s); 1 would not be an increase.",
        ),
        (MorePartitions("a", -1), "INVALID_PARTITIONS", "-1 would not be an increase."),
        (
            MorePartitions("a", 4, ((1, 2),)),
            "INVALID_REPLICA_ASSIGNMENT",
            "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
        ),
        (
            MorePartitions("a", 3, ((1,),)),
            "INVALID_REPLICA_ASSIGNMENT",
            "a partition with 1 replica(s), but this is not consistent with previous partitions",
        ),
        (
            MorePartitions("a", 3, ((1, 9),)),
            "INVALID_REPLICA_ASSIGNMENT",
            "broker 9, but no such broker is registered.",
        ),
        (MorePartitions("a", 10_003), "POLICY_VIOLATION", "Excessively large"),
        (MorePartitions("a", 2**31 - 1), "POLICY_VIOLATION", "Excessively large"),
    ],
)
def test_a_faulty_request_is_refused_with_kafkas_words(w, asked, error, message):
    decision = decide(w, asked)

    refused = decision.results[asked.name]
    assert refused.error == error
    assert message in refused.message
    assert not decision.change


def test_a_topic_named_twice_is_refused(w):
    decision = decide(w, MorePartitions("a", 5), MorePartitions("a", 6), MorePartitions("b", 2))

    assert decision.results == {"a": Refused("INVALID_REQUEST", "Duplicate topic name."), "b": None}


def test_too_few_brokers_refuse_the_old_replication_factor(w):
    del w.image.brokers[2], w.image.brokers[3]

    decision = decide(w, MorePartitions("a", 3))

    assert decision.results["a"].error == "INVALID_REPLICATION_FACTOR"
    assert "only 1 broker(s) are registered" in decision.results["a"].message


def test_validate_only_writes_nothing(w):
    decision = decide(w, MorePartitions("a", 3), validate_only=True)

    assert decision.results == {"a": None}
    assert not decision.change


def test_two_decisions_on_the_same_image_cannot_both_add(w):
    first, second = decide(w, MorePartitions("a", 3)), decide(w, MorePartitions("a", 4))

    assert w.write(first.change)
    assert not w.write(second.change)
    assert len(w.image.topics["a"].partitions) == 3


def test_a_topic_without_partitions_gets_none(w):
    w.put(topic_key("empty"), TopicValue(w.new_id()).encode())

    decision = decide(w, MorePartitions("empty", 1))

    assert decision.results["empty"].error == "UNKNOWN_SERVER_ERROR"
    assert not decision.change
