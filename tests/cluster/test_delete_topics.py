import pytest

from kbroker.cluster import (
    NewTopic,
    Refused,
    TopicDeletion,
    TopicToDelete,
    delete_topics,
    sweep_orphans,
)
from kbroker.model import ZERO_UUID
from tests.cluster.world import uuid, world


@pytest.fixture
def w():
    made = world()
    made.create(NewTopic("a", 3, configs={"x": "1"}), NewTopic("b"))
    return made


def id_of(w, name):
    return w.image.topics[name].topic_id


@pytest.mark.parametrize("by_id", [True, False])
def test_a_deleted_topic_leaves_nothing_behind(w, by_id):
    before = set(w.keys)
    a = w.image.topics["a"]
    target = TopicToDelete(None, a.topic_id) if by_id else TopicToDelete("a")

    decision = delete_topics(w.image, [target], fence=w.fence)
    assert w.write(decision.change)

    assert decision.results == (TopicDeletion("a", a.topic_id),)
    assert list(w.image.topics) == ["b"]
    assert w.image.topic_by_id(a.topic_id) is None
    assert {key.split("/")[0] for key in before - set(w.keys)} == {
        "topics",
        "partitions",
        "configs",
    }
    assert len(before - set(w.keys)) == 5
    assert w.deltas[-1].deleted == {"a": a}


def refused(name, topic_id, error, message):
    return TopicDeletion(name, topic_id, Refused(error, message))


def test_unknown_topics_are_refused(w):
    targets = [TopicToDelete("c"), TopicToDelete(None, uuid(77)), TopicToDelete(None)]

    decision = delete_topics(w.image, targets, fence=w.fence)

    assert not decision.change
    assert {(d.name, d.topic_id, d.refused.error) for d in decision.results} == {
        ("c", ZERO_UUID, "UNKNOWN_TOPIC_OR_PARTITION"),
        (None, uuid(77), "UNKNOWN_TOPIC_ID"),
        (None, ZERO_UUID, "INVALID_REQUEST"),
    }


def test_a_topic_named_twice_is_refused_once(w):
    b = id_of(w, "b")
    targets = [TopicToDelete("a")] * 2 + [TopicToDelete(None, b)] * 3

    decision = delete_topics(w.image, targets, fence=w.fence)

    assert not decision.change
    assert set(decision.results) == {
        refused("a", ZERO_UUID, "INVALID_REQUEST", "Duplicate topic name."),
        refused(None, b, "INVALID_REQUEST", "Duplicate topic id."),
    }


def test_a_topic_given_by_name_and_by_id_is_refused(w):
    a = id_of(w, "a")
    message = "The provided topic name maps to an ID that was already supplied."

    decision = delete_topics(
        w.image, [TopicToDelete("a"), TopicToDelete(None, a), TopicToDelete("b")], fence=w.fence
    )

    assert set(decision.results) == {
        refused("a", a, "INVALID_REQUEST", message),
        TopicDeletion("b", id_of(w, "b")),
    }


def test_a_target_with_both_name_and_id_is_refused(w):
    a = id_of(w, "a")

    decision = delete_topics(w.image, [TopicToDelete("a", a)], fence=w.fence)

    message = "You may not specify both topic name and topic id."
    assert decision.results == (refused("a", a, "INVALID_REQUEST", message),)


def test_deletion_can_be_switched_off(w):
    decision = delete_topics(w.image, [TopicToDelete("a")], fence=w.fence, deletion_enabled=False)

    assert decision.results[0].refused.error == "TOPIC_DELETION_DISABLED"
    assert not decision.change


def test_a_topic_that_was_deleted_meanwhile_is_not_deleted_again(w):
    decision = delete_topics(w.image, [TopicToDelete("a")], fence=w.fence)
    assert w.write(decision.change)
    w.create(NewTopic("a"))

    assert not w.write(decision.change)
    assert "a" in w.image.topics


def test_what_a_dying_controller_leaves_is_swept():
    w = world()
    w.create(NewTopic("big", 250), NewTopic("other"))
    decision = delete_topics(w.image, [TopicToDelete("big")], fence=w.fence)
    first, *_ = decision.change.chunks()
    assert w.write_one(first)
    assert "big" not in w.image.topics

    assert w.write(sweep_orphans(w.image, w.fence))

    assert [key for key in w.keys if key.startswith("partitions/")] == [
        key for key in w.keys if key.endswith("/0")
    ]
    assert list(w.image.orphans()) == []
    assert list(w.image.topics) == ["other"]
