import pytest

from kbroker.cluster import InvalidTopicName, is_internal, validate_topic_name
from kbroker.cluster.topic_names import check_collision


@pytest.mark.parametrize("name", ["a", "A-b_c.9", "...", "__consumer_offsets", "x" * 249])
def test_a_legal_name_passes(name):
    validate_topic_name(name)
    assert not is_internal(name) or name.startswith("__")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("x" * 250, f"the length of '{'x' * 250}' is longer than the max allowed length 249"),
        ("a b", "'a b' contains one or more characters other than ASCII alphanumerics"),
        ("é", "'é' contains one or more characters"),
        ("\u0661", "contains one or more characters"),
        ("a/b", "'a/b' contains one or more characters"),
        ("a\n", "contains one or more characters"),
    ],
)
def test_an_illegal_name_is_refused_with_its_reason(name, reason):
    with pytest.raises(InvalidTopicName) as caught:
        validate_topic_name(name)

    assert str(caught.value).startswith("Topic name is invalid: ")
    assert reason in str(caught.value)
    assert caught.value.kafka_error == "INVALID_TOPIC_EXCEPTION"


def test_names_that_differ_in_dots_and_underscores_collide():
    existing = {"a_b": {"a.b"}}

    with pytest.raises(InvalidTopicName, match=r"Topic 'a_b' collides with existing topic: a\.b"):
        check_collision("a_b", existing)
    check_collision("a-b", existing)
    check_collision("a_b_", existing)


def test_the_internal_topics_are_three():
    names = ["__consumer_offsets", "__transaction_state", "__share_group_state"]

    assert [name for name in [*names, "__cluster_metadata", "__a"] if is_internal(name)] == names
