import pytest

from kbroker.cluster import ConfigResource, NewTopic, Refused, ResourceType, alter_configs
from tests.cluster.world import topic_resource, world


@pytest.fixture
def w():
    made = world()
    made.create(NewTopic("a", configs={"retention.ms": "1"}))
    return made


def alter(w, overrides, **arguments):
    return alter_configs(w.image, overrides, fence=w.fence, **arguments)


@pytest.mark.parametrize(
    "resource",
    [
        topic_resource("a"),
        ConfigResource(ResourceType.BROKER, "1"),
        ConfigResource(ResourceType.BROKER, ""),
        ConfigResource(ResourceType.GROUP, "a group/with é"),
        ConfigResource(ResourceType.CLIENT_METRICS, "sub"),
    ],
)
def test_overrides_are_stored_replaced_and_deleted(w, resource):
    for configs in ({"x": "1", "y": ""}, {"x": "2"}, {}):
        decision = alter(w, {resource: configs})
        assert w.write(decision.change)

        assert decision.results == {resource: None}
        assert w.image.configs.get(resource, {}) == configs
        assert w.deltas[-1].configs == {resource}


def test_a_topic_shows_its_overrides(w):
    assert w.write(alter(w, {topic_resource("a"): {"retention.ms": "2"}}).change)

    assert w.image.topics["a"].configs == {"retention.ms": "2"}
    assert list(w.deltas[-1].changed) == ["a"]


@pytest.mark.parametrize(
    ("resource", "refused"),
    [
        (
            topic_resource("b"),
            Refused("UNKNOWN_TOPIC_OR_PARTITION", "The topic 'b' does not exist."),
        ),
        (
            ConfigResource(ResourceType.BROKER, "x"),
            Refused("INVALID_REQUEST", "Invalid broker name x"),
        ),
        (
            ConfigResource(ResourceType.BROKER, "9"),
            Refused("BROKER_ID_NOT_REGISTERED", "No node with id 9 found."),
        ),
    ],
)
def test_a_resource_that_is_not_there_is_refused(w, resource, refused):
    decision = alter(w, {resource: {"x": "1"}, topic_resource("a"): {"x": "1"}})

    assert decision.results == {resource: refused, topic_resource("a"): None}
    assert len(decision.change.writes) == 1


def test_what_would_change_nothing_is_not_written(w):
    assert not alter(w, {topic_resource("a"): {"retention.ms": "1"}}).change
    assert not alter(w, {ConfigResource(ResourceType.GROUP, "g"): {}}).change
    assert not alter(w, {topic_resource("a"): {"x": "1"}}, validate_only=True).change


@pytest.mark.parametrize("name", ["a", "g"])
def test_of_two_who_alter_the_same_overrides_one_must_look_again(w, name):
    resource = topic_resource("a") if name == "a" else ConfigResource(ResourceType.GROUP, name)
    first, second = alter(w, {resource: {"x": "1"}}), alter(w, {resource: {"y": "1"}})

    assert w.write(first.change)
    assert not w.write(second.change)
