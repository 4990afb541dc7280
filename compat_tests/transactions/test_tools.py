"""kafka-transactions says the same about kbroker as about Apache Kafka, and does the same to it.

Both get one transaction that is open, one that is over, and one that hangs: it was begun on a
partition without the knowledge of its coordinator, which brokers allow only when they are told not
to verify, and it stays until somebody aborts it there (KIP-664).
"""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.handlers.administrator import Administrator
from tests.scenarios.raw_transactions import RawProducer
from tests.scenarios.reading import read_values
from tools.apache_kafka import ApacheKafka

from compat_tests.broker_process import BrokerProcess
from compat_tests.java_tools.tool import TRANSACTIONS, Tools
from kbroker.wire.error_codes import ErrorCode

TOPIC = "places"
NO_VERIFICATION = {"transaction.partition.verification.enable": "false"}
COMMANDS = [
    "list",
    "list --transactional-id-pattern o.*",
    "describe --transactional-id open",
    "describe --transactional-id nobody",
    f"describe-producers --topic {TOPIC} --partition 0",
    f"describe-producers --topic {TOPIC} --partition 1",
    "find-hanging --broker-id 1 --max-transaction-timeout 0",
    f"abort --topic {TOPIC} --partition 1 --start-offset 0",
    f"find-hanging --topic {TOPIC} --partition 1 --max-transaction-timeout 0",
    f"abort --topic {TOPIC} --partition 1 --start-offset 0",
]


def prepare(bootstrap: str) -> None:
    host, port = bootstrap.split(":")
    with Administrator(host, int(port)) as connection:
        connection.must_create(TOPIC, partitions=2)
        opener = RawProducer(connection, "open")
        assert opener.init() is ErrorCode.NONE
        assert opener.send(TOPIC, "open") is ErrorCode.NONE
        ended = RawProducer(connection, "over")
        assert ended.init() is ErrorCode.NONE
        assert ended.send(TOPIC, "over") is ErrorCode.NONE
        assert ended.end(commit=True) is ErrorCode.NONE
        hanging = RawProducer(connection, "hanging", version=1)
        assert hanging.init() is ErrorCode.NONE
        request = hanging.produce_request(TOPIC, "hanging", partition=1)
        assert hanging.ask(request) is ErrorCode.NONE
    assert read_values(bootstrap, TOPIC, partition=1) == []


def told(bootstrap: str) -> list[str]:
    prepare(bootstrap)
    tools = Tools(bootstrap)
    return [_comparable(tools.words(TRANSACTIONS, *command.split())) for command in COMMANDS]


def _comparable(words: str) -> str:
    """Without moments and durations, in the order of the alphabet, with single spaces."""
    words = re.sub(r"\b\d{13}\b", "MOMENT", words)
    words = re.sub(r"(?<=MOMENT)(\s+)\d+(\s+)(?=\S+-\d)", r"\1DURATION\2", words)
    return "\n".join(sorted(re.sub(r"\s+", " ", line).strip() for line in words.splitlines()))


@pytest.mark.java
def test_the_tool_says_and_does_the_same(tmp_path: Path):
    """T12."""
    with (
        ApacheKafka(heap="512m", properties=NO_VERIFICATION) as kafka,
        BrokerProcess(tmp_path, configs=NO_VERIFICATION) as ours,
        ThreadPoolExecutor() as pool,
    ):
        theirs, mine = pool.map(told, (kafka.bootstrap, ours.bootstrap))
        for command, their_words, my_words in zip(COMMANDS, theirs, mine, strict=True):
            assert my_words == their_words, command
        # What hung is over, and readers go on.
        for bootstrap in (kafka.bootstrap, ours.bootstrap):
            assert read_values(bootstrap, TOPIC, committed=False, partition=1) == ["hanging"]
            assert read_values(bootstrap, TOPIC, partition=1) == []
