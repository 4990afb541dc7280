import pytest

from kbroker.cluster import NewTopic, Reassignment, reassign_partitions
from tests.cluster.world import world


@pytest.fixture
def w():
    made = world(brokers=3)
    made.create(NewTopic("a", 2, 2))
    return made


def decide(w, *asked):
    return reassign_partitions(w.image, asked, fence=w.fence)


def test_the_replicas_it_has_are_no_change(w):
    replicas = w.image.topics["a"].partitions[0].replicas

    decision = decide(w, Reassignment("a", 0, replicas))

    assert decision.results == (None,)
    assert not decision.change


def test_a_new_order_is_written_and_the_leader_stays(w):
    before = w.image.topics["a"].partitions[0]

    decision = decide(w, Reassignment("a", 0, before.replicas[::-1]))

    assert w.write(decision.change)
    after = w.image.topics["a"].partitions[0]
    assert decision.results == (None,)
    assert after.replicas == before.replicas[::-1]
    assert (after.leader, after.leader_epoch) == (before.leader, before.leader_epoch)
    assert after.partition_epoch == before.partition_epoch + 1


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (Reassignment("b", 0, (1,)), "UNKNOWN_TOPIC_OR_PARTITION", "a topic named b."),
        (Reassignment("a", 2, (1,)), "UNKNOWN_TOPIC_OR_PARTITION", "find partition a:2."),
        (Reassignment("a", -1, (1,)), "UNKNOWN_TOPIC_OR_PARTITION", "find partition a:-1."),
        (Reassignment("a", 0, None), "NO_REASSIGNMENT_IN_PROGRESS", "No partition reassignment"),
        (Reassignment("a", 0, ()), "INVALID_REPLICA_ASSIGNMENT", "an empty replica list."),
        (Reassignment("a", 0, (1, 1)), "INVALID_REPLICA_ASSIGNMENT", "more than once."),
        (Reassignment("a", 0, (7,)), "INVALID_REPLICA_ASSIGNMENT", "no such broker"),
        (Reassignment("a", 0, (1, 2, 3)), "INVALID_REPLICA_ASSIGNMENT", "cannot be moved"),
    ],
)
def test_the_rest_is_refused_and_changes_nothing(w, asked, error, message):
    decision = decide(w, asked)

    (refused,) = decision.results
    assert refused.error == error
    assert message in refused.message
    assert not decision.change


def test_each_partition_is_decided_by_itself(w):
    replicas = w.image.topics["a"].partitions[1].replicas

    decision = decide(w, Reassignment("a", 9, (1,)), Reassignment("a", 1, replicas[::-1]))

    assert w.write(decision.change)
    assert [one is None for one in decision.results] == [False, True]
    assert w.image.topics["a"].partitions[1].replicas == replicas[::-1]
