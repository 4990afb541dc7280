import pytest

from kbroker.cluster import ManualAssignment, NewTopic, Refused, TopicCreated, TopicDefaults
from kbroker.config.errors import ConfigError, ConfigRequestError
from tests.cluster.world import topic_resource, world


def manual(*brokers: tuple[int, ...]) -> tuple[ManualAssignment, ...]:
    return tuple(ManualAssignment(number, replicas) for number, replicas in enumerate(brokers))


def test_a_created_topic_is_in_the_image_with_its_partitions():
    w = world(brokers=3)
    decision = w.decide_topics(NewTopic("a", 2, 3, configs={"retention.ms": "1"}))
    created = decision.results["a"]

    assert w.write(decision.change)

    topic = w.image.topics["a"]
    assert created == TopicCreated(topic.topic_id, 2, 3, {"retention.ms": "1"})
    assert topic.configs == {"retention.ms": "1"}
    assert w.image.topic_by_id(topic.topic_id) is topic
    for number, partition in enumerate(topic.partitions):
        assert partition.partition == number
        assert sorted(partition.replicas) == [1, 2, 3]
        assert partition.isr == partition.replicas
        assert partition.leader == partition.replicas[0]
        assert (partition.leader_epoch, partition.partition_epoch) == (0, 0)
    assert list(w.deltas[-1].created) == ["a"]


def test_minus_one_asks_for_the_defaults():
    w = world(brokers=2)

    decision = w.decide_topics(NewTopic("a"), defaults=TopicDefaults(6, 2))

    created = decision.results["a"]
    assert (created.num_partitions, created.replication_factor) == (6, 2)


def test_manual_assignments_are_taken_in_the_order_of_their_numbers():
    w = world(brokers=3)
    assignments = (ManualAssignment(1, (2, 3)), ManualAssignment(0, (3, 1)))

    w.create(NewTopic("a", assignments=assignments))

    assert [p.replicas for p in w.image.topics["a"].partitions] == [(3, 1), (2, 3)]
    assert [p.leader for p in w.image.topics["a"].partitions] == [3, 2]


UNREPLICABLE = (
    "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot be "
    "reached because only 2 broker(s) are registered."
)
MANUAL = "The manual partition assignment includes "


@pytest.mark.parametrize(
    ("topic", "error", "message"),
    [
        (NewTopic("a b"), "INVALID_TOPIC_EXCEPTION", "Topic name is invalid: 'a b' contains"),
        (NewTopic("old"), "TOPIC_ALREADY_EXISTS", "Topic 'old' already exists."),
        (NewTopic("o.l_d"), "TOPIC_ALREADY_EXISTS", "Topic 'o.l_d' already exists."),
        (
            NewTopic("o_l.d"),
            "INVALID_TOPIC_EXCEPTION",
            "Topic 'o_l.d' collides with existing topic: o.l_d",
        ),
        (NewTopic("__cluster_metadata"), "INVALID_REQUEST", "Creation of internal topic"),
        (NewTopic("a", 0), "INVALID_PARTITIONS", "invalid non-positive value"),
        (NewTopic("a", -2), "INVALID_PARTITIONS", "invalid non-positive value"),
        (NewTopic("a", 1, 0), "INVALID_REPLICATION_FACTOR", "must be larger than 0, or -1"),
        (NewTopic("a", 1, -2), "INVALID_REPLICATION_FACTOR", "must be larger than 0, or -1"),
        (NewTopic("a", 0, 0), "INVALID_REPLICATION_FACTOR", "must be larger than 0, or -1"),
        (NewTopic("a", 1, 3), "INVALID_REPLICATION_FACTOR", UNREPLICABLE),
        (NewTopic("a", 10_001, 1), "POLICY_VIOLATION", "Excessively large number of partitions"),
        (
            NewTopic("a", -1, 1, manual((1,))),
            "INVALID_REQUEST",
            "A manual partition assignment was specified, but replication factor was not set",
        ),
        (
            NewTopic("a", 1, -1, manual((1,))),
            "INVALID_REQUEST",
            "A manual partition assignment was specified, but numPartitions was not set",
        ),
        (
            NewTopic("a", assignments=(ManualAssignment(0, (1,)), ManualAssignment(2, (1,)))),
            "INVALID_REPLICA_ASSIGNMENT",
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            NewTopic("a", assignments=(ManualAssignment(1, (1,)),)),
            "INVALID_REPLICA_ASSIGNMENT",
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            NewTopic("a", assignments=(ManualAssignment(0, (1,)), ManualAssignment(0, (2,)))),
            "INVALID_REPLICA_ASSIGNMENT",
            "Found multiple manual partition assignments for partition 0",
        ),
        (
            NewTopic("a", assignments=manual((1, 1))),
            "INVALID_REPLICA_ASSIGNMENT",
            MANUAL + "the broker 1 more than once.",
        ),
        (
            NewTopic("a", assignments=manual((1, 9))),
            "INVALID_REPLICA_ASSIGNMENT",
            MANUAL + "broker 9, but no such broker is registered.",
        ),
        (
            NewTopic("a", assignments=manual(())),
            "INVALID_REPLICA_ASSIGNMENT",
            MANUAL + "an empty replica list.",
        ),
        (
            NewTopic("a", assignments=manual((1, 2), (1,))),
            "INVALID_REPLICA_ASSIGNMENT",
            MANUAL + "a partition with 1 replica(s), but this is not consistent with previous "
            "partitions, which have 2 replica(s).",
        ),
        (
            NewTopic("a", configs={"x": None, "y": "1", "z": None}),
            "INVALID_CONFIG",
            "Null value not supported for topic configs: x,z",
        ),
    ],
)
def test_a_faulty_topic_is_refused_with_kafkas_words(topic, error, message):
    w = world(brokers=2)
    w.create(NewTopic("old"), NewTopic("o.l_d"))

    decision = w.decide_topics(topic)

    refused = decision.results[topic.name]
    assert isinstance(refused, Refused)
    assert refused.error == error
    assert message in refused.message
    assert not decision.change


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (ConfigError("no such config"), "INVALID_CONFIG"),
        (ConfigRequestError("no"), "INVALID_REQUEST"),
    ],
)
def test_the_words_of_the_config_check_reach_the_client(error, name):
    def refuse(configs):
        raise error

    decision = world().decide_topics(NewTopic("a", configs={"x": "1"}), check_configs=refuse)

    assert decision.results == {"a": Refused(name, str(error))}


def test_a_topic_that_is_asked_for_twice_is_not_created():
    decision = world().decide_topics(NewTopic("a"), NewTopic("b"), NewTopic("a", 2))

    assert decision.results["a"] == Refused("INVALID_REQUEST", "Duplicate topic name.")
    assert isinstance(decision.results["b"], TopicCreated)


def test_good_topics_are_created_beside_bad_ones():
    w = world()
    decision = w.decide_topics(NewTopic("good"), NewTopic("bad", 0))

    assert w.write(decision.change)

    assert list(w.image.topics) == ["good"]
    assert decision.results["bad"].error == "INVALID_PARTITIONS"


def test_validate_only_answers_the_same_and_writes_nothing():
    w = world()

    decision = w.decide_topics(NewTopic("a", 3), NewTopic("b", 0), validate_only=True)

    assert decision.results["a"].num_partitions == 3
    assert decision.results["b"].error == "INVALID_PARTITIONS"
    assert not decision.change


def test_two_decisions_on_the_same_image_cannot_create_one_topic_twice():
    w = world()
    first, second = w.decide_topics(NewTopic("a")), w.decide_topics(NewTopic("a"))

    assert w.write(first.change)
    assert not w.write(second.change)


def test_a_controller_that_was_replaced_writes_nothing():
    """M1, M3: the fence is in every change."""
    w = world()
    decision = w.decide_topics(NewTopic("a", 250))
    w.keys["controller"] = type(w.keys["controller"])("controller", b"", 99, 99)

    assert not w.write(decision.change)
    assert w.image.topics == {}


def test_a_topic_appears_only_when_all_its_partitions_are_written():
    w = world()
    decision = w.decide_topics(NewTopic("a", 250, configs={"x": "1"}))
    chunks = list(decision.change.chunks())

    seen = []
    for chunk in chunks:
        assert w.write_one(chunk)
        topic = w.image.topics.get("a")
        seen.append(None if topic is None else len(topic.partitions))

    assert seen == [None, None, 250]


def test_overrides_of_a_former_topic_are_not_inherited():
    w = world()
    w.put("configs/topic/a", b'{"version":1,"configs":{"retention.ms":"1"}}')

    w.create(NewTopic("a"))

    assert w.image.topics["a"].configs == {}
    assert topic_resource("a") not in w.image.configs
