from dataclasses import replace

import pytest

from kbroker.cluster import Change, ElectionType, NewTopic, PutKey, Refused, elect_leaders
from kbroker.cluster.keys import partition_key
from kbroker.cluster.leadership import partition_value
from tests.cluster.world import world

PREFERRED, UNCLEAN = ElectionType.PREFERRED, ElectionType.UNCLEAN


@pytest.fixture
def w():
    made = world(brokers=3)
    made.create(NewTopic("a", 2, 3), NewTopic("b", 1, 1))
    return made


def let_be(w, **changes):
    """Partition 0 of topic a, otherwise than it was created."""
    topic = w.image.topics["a"]
    value = replace(partition_value(topic.partitions[0]), **changes)
    assert w.write(Change(writes=(PutKey(partition_key(topic.topic_id, 0), value.encode()),)))
    return w.image.topics["a"].partitions[0]


def decide(w, election, asked):
    return elect_leaders(w.image, election, asked, fence=w.fence)


@pytest.mark.parametrize("election", [PREFERRED, UNCLEAN])
def test_who_has_the_right_leader_needs_none(w, election):
    decision = decide(w, election, [("a", [0, 1]), ("b", [0])])

    assert not decision.change
    assert {name: list(answers) for name, answers in decision.results.items()} == {
        "a": [0, 1],
        "b": [0],
    }
    answers = [one for answers in decision.results.values() for one in answers.values()]
    assert [one.error for one in answers] == ["ELECTION_NOT_NEEDED"] * 3


def test_whoever_asks_for_all_hears_only_of_those_that_needed_one(w):
    first, second, third = w.image.topics["a"].partitions[0].replicas
    let_be(w, leader=second)

    decision = decide(w, PREFERRED, None)

    assert decision.results == {"a": {0: None}, "b": {}}
    assert w.write(decision.change)
    partition = w.image.topics["a"].partitions[0]
    assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (first, 1, 1)
    assert partition.isr == (first, second, third)


def test_a_preferred_leader_that_is_not_in_sync_is_not_elected(w):
    _first, second, third = w.image.topics["a"].partitions[0].replicas
    let_be(w, leader=second, isr=(second, third))

    decision = decide(w, PREFERRED, [("a", [0])])

    assert decision.results["a"][0].error == "PREFERRED_LEADER_NOT_AVAILABLE"
    assert not decision.change


def test_an_unclean_election_takes_one_in_sync_before_any_other(w):
    _first, _second, third = w.image.topics["a"].partitions[0].replicas
    let_be(w, leader=-1, isr=(third,))

    decision = decide(w, UNCLEAN, [("a", [0])])

    assert w.write(decision.change)
    partition = w.image.topics["a"].partitions[0]
    assert (partition.leader, partition.isr) == (third, (third,))


def test_an_unclean_election_takes_what_lives(w):
    _first, second, _third = w.image.topics["a"].partitions[0].replicas
    let_be(w, leader=-1, isr=(9,), replicas=(9, second))

    decision = decide(w, UNCLEAN, [("a", [0])])

    assert w.write(decision.change)
    partition = w.image.topics["a"].partitions[0]
    assert (partition.leader, partition.isr) == (second, (second,))


def test_where_nobody_lives_nobody_leads(w):
    let_be(w, leader=-1, isr=(9,), replicas=(9,))

    decision = decide(w, UNCLEAN, [("a", [0])])

    assert decision.results["a"][0].error == "ELIGIBLE_LEADERS_NOT_AVAILABLE"
    assert not decision.change


def test_what_does_not_exist_has_no_leader(w):
    decision = decide(w, PREFERRED, [("nope", [0]), ("a", [2, -1])])

    assert decision.results == {
        "nope": {0: Refused("UNKNOWN_TOPIC_OR_PARTITION", "No such topic as nope")},
        "a": {
            2: Refused("UNKNOWN_TOPIC_OR_PARTITION", "No such partition as a-2"),
            -1: Refused("UNKNOWN_TOPIC_OR_PARTITION", "No such partition as a--1"),
        },
    }
