import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbroker.cluster.keys import (
    BrokerKey,
    ConfigResource,
    PartitionKey,
    ResourceType,
    TopicKey,
    broker_key,
    config_key,
    parse_key,
    partition_key,
    topic_key,
)
from kbroker.cluster.values import (
    BrokerValue,
    ClusterValue,
    ConfigsValue,
    ControllerValue,
    Endpoint,
    FeaturesValue,
    PartitionValue,
    ProducerIdsValue,
    TopicValue,
    VersionRange,
)
from tests.cluster.world import uuid

VALUES = [
    ClusterValue("4L6g3nShT-eMCtK--X86sw"),
    FeaturesValue({"metadata.version": 30}),
    ControllerValue(3),
    BrokerValue(
        1,
        uuid(7),
        (Endpoint("PLAINTEXT", "::1", 9092),),
        "r",
        {"group.version": VersionRange(0, 1)},
    ),
    TopicValue(uuid(9)),
    PartitionValue((1, 2, 3), 1, 4, 5, (1, 2), (3,), (3,)),
    ConfigsValue({"cleanup.policy": "compact", "x": ""}),
    ProducerIdsValue(2000, 1, 17),
]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_names_survive_their_keys(name):
    assert parse_key(topic_key(name)) == TopicKey(name)
    for type_ in ResourceType:
        resource = ConfigResource(type_, name)
        assert parse_key(config_key(resource)) == resource
        assert config_key(resource).count("/") == 2


def test_numbers_and_ids_survive_their_keys():
    assert parse_key(broker_key(12)) == BrokerKey(12)
    assert parse_key(partition_key(uuid(5), 77)) == PartitionKey(uuid(5), 77)


@pytest.mark.parametrize(
    "key", ["", "acls/x", "brokers/x", "partitions/short/1", "configs/unknown/x", "partitions"]
)
def test_other_keys_are_not_ours(key):
    assert parse_key(key) is None


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_survive_their_bytes(value):
    assert type(value).decode(value.encode()) == value
    assert json.loads(value.encode())["version"] == 1


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_unknown_fields_of_a_newer_broker_are_ignored(value):
    fields = json.loads(value.encode())
    newer = json.dumps({**fields, "version": 2, "color": ["blue"]}).encode()

    assert type(value).decode(newer) == value


def test_fields_that_an_older_broker_did_not_write_have_defaults():
    value = PartitionValue((1,), 1, 0, 0, (1,))
    fields = json.loads(value.encode())
    del fields["elr"], fields["last_known_elr"]

    assert PartitionValue.decode(json.dumps(fields).encode()) == value


@pytest.mark.parametrize(
    ("levels", "shown"), [(VersionRange(7, 30), "7-30"), (VersionRange(1, 1), "1")]
)
def test_a_range_is_shown_as_kafka_shows_it(levels, shown):
    assert str(levels) == shown
