import pytest

from kbroker.config.describe import ConfigSource
from kbroker.model import ZERO_UUID
from kbroker.testing import Broker
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse
from tests.handlers.administrator import TOPIC, Administrator, new_topic


def code(result):
    return ErrorCode(result.error_code)


def test_a_created_topic_is_there_when_the_answer_comes(admin):
    result = admin.create(new_topic("t", 3, 1))["t"]

    assert code(result) is ErrorCode.NONE
    assert result.error_message is None
    assert (result.num_partitions, result.replication_factor) == (3, 1)
    assert result.topic_id != ZERO_UUID
    assert admin.partitions_of("t") == 3


@pytest.mark.parametrize("version", [*CreateTopicsRequest.versions])
def test_every_version_creates(admin, version):
    result = admin.create(new_topic("t", 2, 1), version=version)["t"]

    assert code(result) is ErrorCode.NONE
    assert admin.partitions_of("t") == 2
    assert result.num_partitions == (2 if version >= 5 else -1)
    assert bool(result.configs) == (version >= 5)
    assert (result.topic_id != ZERO_UUID) == (version >= 7)


def test_the_answer_has_every_config_of_the_topic(admin):
    result = admin.create(new_topic("t", 1, 1, configs={"retention.ms": "1000"}))["t"]

    by_name = {config.name: config for config in result.configs}
    assert by_name["retention.ms"].value == "1000"
    assert by_name["retention.ms"].config_source == ConfigSource.DYNAMIC_TOPIC
    assert by_name["cleanup.policy"].value == "delete"
    assert by_name["cleanup.policy"].config_source == ConfigSource.DEFAULT
    assert list(by_name) == [config.name for config in admin.describe(TOPIC, "t").configs]


def test_minus_one_means_the_defaults_of_the_broker():
    with (
        Broker(configs={"num.partitions": "4"}) as broker,
        Administrator(broker.host, broker.port) as admin,
    ):
        result = admin.create(new_topic("t"))["t"]

        assert (result.num_partitions, result.replication_factor) == (4, 1)


def test_a_manual_assignment_places_the_replicas(admin):
    result = admin.create(new_topic("t", assignments={0: [1], 1: [1]}))["t"]

    assert (result.num_partitions, result.replication_factor) == (2, 1)


# name, topic, error, a part of the message that people search for
REFUSED = [
    ("bad/name", new_topic("bad/name", 1, 1), "INVALID_TOPIC_EXCEPTION", "alphanumerics"),
    ("", new_topic("", 1, 1), "INVALID_TOPIC_EXCEPTION", "empty string"),
    ("..", new_topic("..", 1, 1), "INVALID_TOPIC_EXCEPTION", "'..' is not allowed"),
    ("x" * 250, new_topic("x" * 250, 1, 1), "INVALID_TOPIC_EXCEPTION", "249"),
    ("t", new_topic("t", 1, 3), "INVALID_REPLICATION_FACTOR", "only 1 broker(s)"),
    ("t", new_topic("t", 1, 0), "INVALID_REPLICATION_FACTOR", "larger than 0"),
    ("t", new_topic("t", 0, 1), "INVALID_PARTITIONS", "non-positive"),
    ("t", new_topic("t", 20_000, 1), "POLICY_VIOLATION", "Excessively large"),
    ("t", new_topic("t", 1, 1, configs={"nope": "1"}), "INVALID_CONFIG", "nope"),
    ("t", new_topic("t", 1, 1, configs={"retention.ms": "x"}), "INVALID_CONFIG", "LONG"),
    ("t", new_topic("t", 1, 1, configs={"retention.ms": None}), "INVALID_CONFIG", "Null value"),
    ("t", new_topic("t", 1, assignments={0: [1]}), "INVALID_REQUEST", "numPartitions"),
    ("t", new_topic("t", assignments={0: [9]}), "INVALID_REPLICA_ASSIGNMENT", "broker 9"),
    ("t", new_topic("t", assignments={1: [1]}), "INVALID_REPLICA_ASSIGNMENT", "consecutive"),
    ("__cluster_metadata", new_topic("__cluster_metadata", 1, 1), "INVALID_REQUEST", "prohibited"),
]


@pytest.mark.parametrize(("name", "topic", "error", "words"), REFUSED)
def test_what_kafka_refuses_is_refused(admin, name, topic, error, words):
    result = admin.create(topic)[name]

    assert code(result) is ErrorCode[error]
    assert words in result.error_message
    assert result.topic_id == ZERO_UUID
    assert (result.num_partitions, result.replication_factor, result.configs) == (-1, -1, [])


def test_a_topic_that_exists_is_not_created_again(admin):
    admin.must_create("t")

    result = admin.create(new_topic("t", 1, 1))["t"]

    assert code(result) is ErrorCode.TOPIC_ALREADY_EXISTS
    assert result.error_message == "Topic 't' already exists."


def test_names_that_look_the_same_in_metrics_collide(admin):
    admin.must_create("a.b")

    result = admin.create(new_topic("a_b", 1, 1))["a_b"]

    assert code(result) is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert "collides with existing topic: a.b" in result.error_message


def test_a_name_given_twice_is_answered_once_and_created_not_at_all(admin):
    request = CreateTopicsRequest(
        topics=[new_topic("twice", 1, 1), new_topic("once", 1, 1), new_topic("twice", 2, 1)]
    )
    answer = admin.ask(request, CreateTopicsResponse, version=7)

    results = sorted((topic.name, topic.error_code) for topic in answer.topics)
    assert results == [("once", 0), ("twice", ErrorCode.INVALID_REQUEST)]
    assert admin.partitions_of("twice") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_validating_answers_the_same_and_creates_nothing(admin):
    results = admin.create(new_topic("t", 2, 1), new_topic("bad/", 1, 1), validate_only=True)

    assert (results["t"].num_partitions, code(results["t"])) == (2, ErrorCode.NONE)
    assert code(results["bad/"]) is ErrorCode.INVALID_TOPIC_EXCEPTION
    assert admin.partitions_of("t") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("timeout_ms", [0, -5])
def test_without_time_nothing_is_created(admin, timeout_ms):
    result = admin.create(new_topic("t", 1, 1), timeout_ms=timeout_ms)["t"]

    assert code(result) is ErrorCode.REQUEST_TIMED_OUT
    assert admin.partitions_of("t") is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_an_empty_request_has_an_empty_answer(admin):
    assert admin.create(timeout_ms=0) == {}


def test_an_internal_topic_can_be_created_by_hand(admin):
    """Kafka allows it, and some people do it to choose the number of partitions."""
    assert code(admin.create(new_topic("__consumer_offsets", 3, 1))["__consumer_offsets"]) == 0
    assert admin.partitions_of("__consumer_offsets") == 3


def test_topics_and_their_configs_survive_a_restart(tmp_path):
    for attempt in range(2):
        with (
            Broker(data_dir=str(tmp_path)) as broker,
            Administrator(broker.host, broker.port) as admin,
        ):
            if attempt == 0:
                admin.must_create("t", 2, retention_ms="1234")
            assert admin.partitions_of("t") == 2
            assert admin.values(TOPIC, "t", "retention.ms") == {"retention.ms": "1234"}
