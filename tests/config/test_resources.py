"""Which resources a request may name; test_apache_kafka.py compares the words with Kafka's."""

import pytest

from kbroker.config import ConfigRequestError
from kbroker.config.resources import ResourceType, check_altered, check_described

NODE_ID = 1
# Each: resource type, name, what a broker with the id 1 says to whoever asks.
NOT_DESCRIBED = [
    (ResourceType.BROKER, "2", "Unexpected broker id, expected 1 or empty string, but received 2"),
    (ResourceType.BROKER, "x", "Broker id must be an integer, but it is: x"),
    (ResourceType.BROKER, "1_0", "Broker id must be an integer, but it is: 1_0"),
    (ResourceType.BROKER_LOGGER, "", "Broker id must not be empty"),
    (ResourceType.BROKER_LOGGER, "2", "Unexpected broker id, expected 1 but received 2"),
    (ResourceType.CLIENT_METRICS, "", "Client metrics subscription name must not be empty"),
    (ResourceType.GROUP, "", "Group name must not be empty"),
]
NOT_ALTERED = [
    (ResourceType.TOPIC, "", "Default topic resources are not allowed."),
    (ResourceType.BROKER, "2", "Unexpected broker id, expected 1, but received 2"),
    (ResourceType.BROKER, "x", "Node id must be an integer, but it is: x"),
    (ResourceType.BROKER_LOGGER, "x", "Node id must be an integer, but it is: x"),
    (ResourceType.BROKER_LOGGER, "2", "Unexpected node id. Expected 1, but received 2"),
    (ResourceType.CLIENT_METRICS, "", "Subscription name can't be empty"),
    (ResourceType.GROUP, "", "Default group resources are not allowed."),
    (99, "m", "Unknown resource type 99"),
]


@pytest.mark.parametrize(("resource_type", "name", "words"), NOT_DESCRIBED)
def test_a_resource_that_is_not_here_cannot_be_described(resource_type, name, words):
    with pytest.raises(ConfigRequestError) as caught:
        check_described(resource_type, name, NODE_ID)

    assert str(caught.value) == words


@pytest.mark.parametrize(("resource_type", "name", "words"), NOT_ALTERED)
def test_a_resource_that_is_not_here_cannot_be_altered(resource_type, name, words):
    with pytest.raises(ConfigRequestError) as caught:
        check_altered(resource_type, name, NODE_ID)

    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("resource_type", "name"),
    [
        (ResourceType.TOPIC, "t"),
        (ResourceType.BROKER, ""),
        (ResourceType.BROKER, "01"),
        (ResourceType.BROKER_LOGGER, "1"),
        (ResourceType.CLIENT_METRICS, "m"),
        (ResourceType.GROUP, "g"),
    ],
)
def test_a_resource_that_is_here_is_fine(resource_type, name):
    assert check_described(resource_type, name, NODE_ID) is None
    assert check_altered(resource_type, name, NODE_ID) is None


def test_what_is_no_resource_cannot_be_described():
    with pytest.raises(ConfigRequestError, match="Unsupported resource type: 99"):
        check_described(99, "m", NODE_ID)
