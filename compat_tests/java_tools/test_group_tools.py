"""kafka-consumer-groups says the same about kbroker as about Apache Kafka, and reads its records.

Both brokers get one group of each protocol with one member; what is asked while the members are
there and after they left must be answered with the same words, but for the names of members.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from tools.apache_kafka import ApacheKafka

from compat_tests.brokers import CONFIGS as BROKER_CONFIGS
from compat_tests.client import Sent
from compat_tests.confluent_kafka.adapter import ConfluentAdmin, ConfluentClient
from compat_tests.java_tools.tool import CONSOLE_CONSUMER, CONSUMER_GROUPS, Tools

PROTOCOLS = ("classic", "consumer")
RECORDS = 10
# NAME stands for the topic; its groups are NAME-classic and NAME-consumer.
WITH_MEMBERS = [
    "--list --state",
    "--list --type",
    "--describe --group NAME-classic --group NAME-consumer",
    "--describe --group NAME-classic --group NAME-consumer --members --verbose",
    "--describe --group NAME-classic --group NAME-consumer --state",
    "--describe --group nowhere",
    "--delete --group NAME-consumer",
    "--reset-offsets --group NAME-classic --topic NAME --to-earliest --execute",
]
WITHOUT_MEMBERS = [
    "--describe --group NAME-classic",
    "--reset-offsets --group NAME-classic --topic NAME --to-earliest --execute",
    "--reset-offsets --group NAME-consumer --topic NAME:1 --shift-by -3 --dry-run",
    "--delete-offsets --group NAME-consumer --topic NAME:1",
    "--delete-offsets --group NAME-consumer --topic nowhere",
    "--describe --group NAME-classic --group NAME-consumer --offsets",
    "--delete --group NAME-classic",
    "--delete --group NAME-classic",
    "--list",
]


# What members of confluent-kafka are called that speak a protocol.
KINDS = {"classic": "eager", "consumer": "consumer"}


@contextmanager
def members(bootstrap: str, topic: str) -> Iterator[None]:
    """One member for each protocol, which has read and committed everything."""
    processes = []
    try:
        for protocol in PROTOCOLS:
            words = [sys.executable, "-m", "compat_tests.confluent_kafka.member"]
            words += ["--bootstrap", bootstrap, "--group", f"{topic}-{protocol}"]
            words += ["--topic", topic, "--kind", KINDS[protocol], "--session-timeout-ms", "6000"]
            processes.append(subprocess.Popen(words, stdout=subprocess.PIPE))
        for process in processes:
            assert process.stdout is not None
            committed: dict[int, int] = {}
            while committed != dict.fromkeys(range(3), RECORDS):
                event = json.loads(process.stdout.readline())
                for each in event.get("offsets", ()):
                    committed[each["partition"]] = each["offset"]
        yield
    finally:
        for process in processes:
            process.terminate()
            process.communicate()


def comparable(words: str, topic: str) -> list[str]:
    """Lines in an order of their own: the tool prints hash maps, and other tests' groups."""
    words = re.sub(r"rdkafka-[0-9a-f-]{36}", "CLASSIC-MEMBER", words)
    words = re.sub(r"\S{22} +/127", "MEMBER /127", words)
    # Apache Kafka's consumer groups begin with epoch 1, ours with 0.
    words = re.sub(rf"\d+( +{topic}:)", r"EPOCH\1", words)
    lines = [re.sub(r"\s+", " ", line).strip() for line in words.splitlines()]
    return sorted(
        line for line in lines if topic in line or "Error" in line or line.startswith("*")
    )


def transcript(bootstrap: str, topic: str) -> list[tuple[str, list[str]]]:
    """Every command and what came of it."""
    tools = Tools(bootstrap)
    ConfluentAdmin(bootstrap).create_topic(topic, partitions=3)
    time.sleep(1)  # Apache Kafka answers before it knows the topic
    sent = [Sent(b"x", partition=number % 3) for number in range(3 * RECORDS)]
    ConfluentClient(bootstrap).produce(topic, sent)

    def ask(commands: list[str]) -> list[tuple[str, list[str]]]:
        return [
            (
                command,
                comparable(
                    tools.words(CONSUMER_GROUPS, *command.replace("NAME", topic).split()), topic
                ),
            )
            for command in commands
        ]

    with members(bootstrap, topic):
        answers = ask(WITH_MEMBERS)
    return answers + ask(WITHOUT_MEMBERS)


@pytest.fixture
def apache_kafka() -> Iterator[str]:
    with ApacheKafka(properties=BROKER_CONFIGS, heap="512m") as kafka:
        yield kafka.bootstrap


@pytest.mark.timeout(240)
def test_kafkas_tool_for_groups_says_the_same_about_both_brokers(
    bootstrap: str, apache_kafka: str, topic: str
):
    with ThreadPoolExecutor() as pool:
        ours = pool.submit(transcript, bootstrap, topic)
        theirs = pool.submit(transcript, apache_kafka, topic)

    for (command, our_words), (_, their_words) in zip(ours.result(), theirs.result(), strict=True):
        assert our_words == their_words, command
        assert our_words, f"{command} says nothing"


def decoded(tools: Tools, formatter: str, group: str) -> list[dict[str, object]]:
    """The records about a group in __consumer_offsets, as Kafka's tool reads them."""
    words = tools.words(
        CONSOLE_CONSUMER,
        *("--topic", "__consumer_offsets", "--from-beginning", "--timeout-ms", "5000"),
        *("--formatter", f"org.apache.kafka.tools.consumer.{formatter}"),
    )
    decoder, position, found = json.JSONDecoder(), words.find("{"), []
    while position >= 0:
        record, end = decoder.raw_decode(words, position)
        if record["key"]["data"]["group"] == group:
            found.append(record)
        position = words.find("{", end)
    return found


def test_kafkas_formatters_decode_our_records(tools: Tools, bootstrap: str, topic: str):
    """Burrow and its like read the same records."""
    ConfluentAdmin(bootstrap).create_topic(topic, partitions=3)
    sent = [Sent(b"x", partition=number % 3) for number in range(3 * RECORDS)]
    ConfluentClient(bootstrap).produce(topic, sent)
    with members(bootstrap, topic):
        pass

    offsets = {}
    for record in decoded(tools, "OffsetsMessageFormatter", f"{topic}-consumer"):
        key, value = record["key"]["data"], record["value"]["data"]
        offsets[key["topic"], key["partition"]] = value["offset"]
        assert value["topicId"]
    assert offsets == {(topic, partition): RECORDS for partition in range(3)}
    groups = [
        record["value"]["data"]
        for record in decoded(tools, "GroupMetadataMessageFormatter", f"{topic}-classic")
    ]
    assert [(group["generation"], len(group["members"])) for group in groups] == [
        (0, 0),
        (1, 1),
        (2, 0),
    ]
    assert [member["clientId"] for member in groups[1]["members"]] == ["rdkafka"]
