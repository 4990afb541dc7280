"""kbroker topics, on a real cluster."""

from confluent_kafka import Consumer


def rows(lines: list[str]) -> list[list[str]]:
    return [line.split("\t") for line in lines if not line.startswith("#")]


def facts(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("#")]


def test_a_topic_lives_from_create_to_delete(kbroker, name):
    assert kbroker.done("topics", "create", name, "--partitions", "3") == []
    assert [name, "3", "1"] in rows(kbroker.done("topics", "list"))

    assert kbroker.done("topics", "delete", name) == []
    assert name not in [row[0] for row in rows(kbroker.done("topics", "list"))]


def test_what_is_not_said_is_the_brokers_choice(kbroker, name):
    kbroker.done("topics", "create", name)

    assert len(rows(kbroker.done("topics", "describe", name))) == 1


def test_a_description_shows_partitions_offsets_and_configs(kbroker, name):
    kbroker.done(
        *("topics", "create", name, "--partitions", "2", "--replication-factor", "1"),
        *("--config", "cleanup.policy=compact", "--config", "segment.bytes=2097152"),
    )
    keyed = ("--key-separator", ":")  # a compacted topic takes nothing else
    kbroker.done("produce", name, "--partition", "1", *keyed, stdin="a:1\nb:2\n")

    lines = kbroker.done("topics", "describe", name)
    leader = rows(lines)[0][2]
    assert rows(lines) == [
        [name, "0", leader, leader, leader, "0", "0"],
        [name, "1", leader, leader, leader, "0", "2"],
    ]
    assert facts(lines)[0].startswith(f"# {name}: 2 partitions, replication factor 1, id ")
    assert f"# {name}: cleanup.policy=compact" in lines
    assert f"# {name}: segment.bytes=2097152" in lines
    assert not any("retention.ms" in line for line in lines)


def test_without_names_every_topic_is_described(kbroker, topic):
    described = {row[0] for row in rows(kbroker.done("topics", "describe"))}

    assert topic in described
    assert not any(each.startswith("__") for each in described)


def test_a_topic_is_altered(kbroker, name):
    kbroker.done("topics", "create", name, "--partitions", "1", "--config", "retention.ms=1000000")
    kbroker.done(
        *("topics", "alter", name, "--partitions", "4"),
        *("--config", "retention.bytes=123456", "--delete-config", "retention.ms"),
    )

    lines = kbroker.done("topics", "describe", name)
    assert len(rows(lines)) == 4
    assert f"# {name}: retention.bytes=123456" in lines
    assert not any("retention.ms" in line for line in lines)


def test_a_topic_that_exists_is_not_created_again(kbroker, topic):
    ended = kbroker("topics", "create", topic)

    assert ended.exit_code == 1
    assert ended.complaint.startswith(f"kbroker: {topic}: ")
    assert ended.complaint.endswith(" (TOPIC_ALREADY_EXISTS)\n")
    assert ended.complaint.count("\n") == 1


def test_refusals_carry_the_brokers_error_code(kbroker, topic):
    name = f"{topic}-not-there"
    for arguments, code in (
        (["create", "not a name"], "INVALID_TOPIC_EXCEPTION"),
        (["create", name, "--replication-factor", "3"], "INVALID_REPLICATION_FACTOR"),
        (["create", name, "--config", "retention.ms=soon"], "INVALID_CONFIG"),
        (["alter", topic, "--partitions", "1"], "INVALID_PARTITIONS"),
        (["alter", topic, "--config", "retention.ms=soon"], "INVALID_CONFIG"),
        (["alter", name, "--partitions", "2"], "UNKNOWN_TOPIC_OR_PARTITION"),
        (["describe", name], "UNKNOWN_TOPIC_OR_PARTITION"),
        (["delete", name], "UNKNOWN_TOPIC_OR_PARTITION"),
    ):
        ended = kbroker("topics", *arguments)
        subject = arguments[1]
        assert ended.exit_code == 1
        assert ended.complaint.startswith(f"kbroker: {subject}: ")
        assert ended.complaint.endswith(f" ({code})\n")
        assert ended.output == ""


def test_a_name_that_is_refused_does_not_stop_the_others(kbroker, topic):
    ended = kbroker("topics", "delete", f"{topic}-not-there", topic)

    assert ended.exit_code == 1
    assert ended.complaint.count("\n") == 1
    assert topic not in [row[0] for row in rows(kbroker.done("topics", "list"))]


def test_internal_topics_are_listed_when_asked_for(kbroker, bootstrap, topic):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic})
    consumer.subscribe([topic])
    for _ in range(100):
        consumer.poll(0.2)
        if consumer.assignment():
            break
    consumer.close()

    internal = [row[0] for row in rows(kbroker.done("topics", "list", "--internal"))]
    assert "__consumer_offsets" in internal
    assert topic in internal
    assert "__consumer_offsets" not in [row[0] for row in rows(kbroker.done("topics", "list"))]
