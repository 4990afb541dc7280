"""Kafka's tools say the same words about kbroker as about Apache Kafka.

Every command below runs against both, in this order, and both outputs must be equal but for ids
and addresses. Error messages are part of what is compared: people search the web for them.
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tools.apache_kafka import ApacheKafka

from compat_tests.brokers import CONFIGS as BROKER_CONFIGS
from compat_tests.java_tools.tool import (
    CONFIGS,
    CONSOLE_CONSUMER,
    CONSOLE_PRODUCER,
    GET_OFFSETS,
    TOPICS,
    Tools,
)

CONSUME_ONE = (
    "--topic NAME --partition 1 --offset earliest --max-messages 1 --timeout-ms 20000"
    " --command-property enable.auto.commit=false --formatter-property print.key=true"
)
# NAME stands for the topic. What follows `<` is what the tool reads.
COMMANDS = [
    (TOPICS, "--create --topic NAME --partitions 3 --config retention.ms=3600000"),
    (TOPICS, "--create --topic NAME"),
    (TOPICS, "--create --topic bad,name"),
    (TOPICS, "--create --topic wrong --config nonsense=1"),
    (TOPICS, "--create --topic wrong --config retention.ms=oops"),
    (TOPICS, "--create --topic wrong --partitions 0"),
    (TOPICS, "--describe --topic NAME"),
    (TOPICS, "--describe --topic nowhere"),
    (TOPICS, "--alter --topic NAME --partitions 2"),
    (CONSOLE_PRODUCER, "--topic NAME --reader-property parse.key=true < k1\tv1\nk2\tv2\nk3\tv3\n"),
    (GET_OFFSETS, "--topic NAME"),
    (GET_OFFSETS, "--topic NAME --time max-timestamp"),
    (GET_OFFSETS, "--topic NAME --time -5"),
    (CONSOLE_CONSUMER, CONSUME_ONE),
    (CONFIGS, "--describe --topic NAME --all"),
    (CONFIGS, "--alter --topic NAME --add-config segment.bytes=oops"),
    (CONFIGS, "--alter --broker 1 --add-config broker.id=7"),
    (TOPICS, "--delete --topic NAME"),
    (TOPICS, "--delete --topic NAME"),
]


@pytest.fixture
def apache_kafka() -> Iterator[Tools]:
    with ApacheKafka(properties=BROKER_CONFIGS, heap="512m") as kafka:
        yield Tools(kafka.bootstrap)


def comparable(words: str) -> str:
    """Without what differs between any two clusters."""
    return re.sub(r"TopicId: \S+", "TopicId: ID", words)


def transcript(tools: Tools, name: str) -> list[tuple[str, str]]:
    """Every command and what came of it."""
    said = []
    for tool, command in COMMANDS:
        arguments, _, stdin = command.replace("NAME", name).partition(" < ")
        words = tools.words(tool, *arguments.split(" "), stdin=stdin)
        said.append((command, comparable(words)))
    return said


@pytest.mark.timeout(240)
def test_kafkas_tools_say_the_same_about_both_brokers(
    tools: Tools, apache_kafka: Tools, topic: str
):
    with ThreadPoolExecutor() as pool:
        ours = pool.submit(transcript, tools, topic)
        theirs = pool.submit(transcript, apache_kafka, topic)

    assert ours.result() == theirs.result()
    assert f"Topic '{topic}' already exists" in ours.result()[1][1]
