"""The console clients, the load generators, and the tools that ask for and move offsets."""

import json
from pathlib import Path

import pytest
from tools.apache_kafka import run_java

from compat_tests.broker_process import BrokerProcess
from compat_tests.client import COMPRESSIONS, Sent
from compat_tests.confluent_kafka.adapter import ConfluentClient
from compat_tests.java_tools.tool import (
    CONSOLE_CONSUMER,
    CONSOLE_PRODUCER,
    DELETE_RECORDS,
    DUMP_LOG,
    GET_OFFSETS,
    PRODUCER_PERFORMANCE,
    TOPICS,
    TRANSACTIONS,
    VERIFIABLE_PRODUCER,
    Tools,
)


def consumed(tools: Tools, topic: str, count: int, *, offset: str = "earliest") -> list[str]:
    """What the console consumer shows of partition 0."""
    shown = ("print.offset", "print.headers", "print.key", "print.timestamp")
    properties = [word for name in shown for word in ("--formatter-property", f"{name}=true")]
    position = ("--topic", topic, "--partition", "0", "--offset", offset)
    output = tools.run(
        CONSOLE_CONSUMER,
        *position,
        *("--max-messages", str(count), "--timeout-ms", "20000"),
        *("--command-property", "enable.auto.commit=false"),
        *properties,
    )
    return output.splitlines()


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_console_consumer_shows_what_the_console_producer_sent(
    tools: Tools, topic: str, compression: str
):
    keyed = ("parse.headers=true", "parse.key=true", "key.separator=:", "headers.delimiter=|")
    properties = [word for each in keyed for word in ("--reader-property", each)]
    tools.run(
        CONSOLE_PRODUCER,
        *("--topic", topic, "--compression-codec", compression, *properties),
        stdin="trace:1|k1:v1\ntrace:2,span:3|k2:v2\ntrace:4|k3:\n",
    )

    lines = [line.split("\t")[1:] for line in consumed(tools, topic, 3)]
    assert lines == [
        ["Offset:0", "trace:1", "k1", "v1"],
        ["Offset:1", "trace:2,span:3", "k2", "v2"],
        ["Offset:2", "trace:4", "k3", ""],
    ]


def test_the_console_consumer_begins_in_the_middle_of_a_batch(
    tools: Tools, bootstrap: str, topic: str
):
    records = [Sent(b"value %d" % n, b"key", timestamp_ms=1_600_000_000_000) for n in range(50)]
    ConfluentClient(bootstrap).produce(topic, records, compression="lz4")

    lines = consumed(tools, topic, 2, offset="33")
    assert lines == [
        "CreateTime:1600000000000\tOffset:33\tNO_HEADERS\tkey\tvalue 33",
        "CreateTime:1600000000000\tOffset:34\tNO_HEADERS\tkey\tvalue 34",
    ]


def test_the_console_consumer_shows_the_time_of_appending(tools: Tools, bootstrap: str, topic: str):
    tools.run(
        TOPICS, "--create", "--topic", topic, "--config", "message.timestamp.type=LogAppendTime"
    )
    ConfluentClient(bootstrap).produce(topic, [Sent(None, b"tombstone")])

    [line] = consumed(tools, topic, 1)
    time, *rest = line.split("\t")
    assert time.startswith("LogAppendTime:")
    assert rest == ["Offset:0", "NO_HEADERS", "tombstone", "null"]


def test_offsets_are_found_by_place_and_by_time(tools: Tools, bootstrap: str, topic: str):
    records = [Sent(b"a", timestamp_ms=1_600_000_000_000 + n % 7) for n in range(10)]
    ConfluentClient(bootstrap).produce(topic, records)

    def offset(time: str) -> str:
        return tools.run(GET_OFFSETS, "--topic", topic, "--time", time).strip()

    assert offset("latest") == f"{topic}:0:10"
    assert offset("earliest") == f"{topic}:0:0"
    assert offset("max-timestamp") == f"{topic}:0:6"
    assert offset("1600000000003") == f"{topic}:0:3"


def test_records_are_deleted_up_to_an_offset_or_all(
    tools: Tools, bootstrap: str, three_partitions: str, tmp_path: Path
):
    sent = [Sent(b"a", partition=partition) for partition in range(3) for _ in range(10)]
    ConfluentClient(bootstrap).produce(three_partitions, sent)
    offsets = [(0, 4), (1, -1), (2, 11)]
    wanted = [
        {"topic": three_partitions, "partition": partition, "offset": offset}
        for partition, offset in offsets
    ]
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps({"partitions": wanted}))

    output = tools.run(DELETE_RECORDS, "--offset-json-file", str(file))
    assert f"partition: {three_partitions}-0\tlow_watermark: 4" in output
    assert f"partition: {three_partitions}-1\tlow_watermark: 10" in output
    assert "OffsetOutOfRangeException" in output
    earliest = tools.run(GET_OFFSETS, "--topic", three_partitions, "--time", "earliest")
    assert earliest.split() == [
        f"{three_partitions}:{partition}:{offset}"
        for partition, offset in [(0, 4), (1, 10), (2, 0)]
    ]


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_producer_performance_sends_all_its_records(tools: Tools, topic: str, acks: str):
    tools.run(TOPICS, "--create", "--topic", topic, "--partitions", "4")
    output = tools.run(
        PRODUCER_PERFORMANCE,
        *("--topic", topic, "--num-records", "20000", "--record-size", "100"),
        *("--throughput", "-1", "--command-property", f"acks={acks}", "compression.type=lz4"),
    )

    assert "20000 records sent" in output
    ends = tools.run(GET_OFFSETS, "--topic", topic).split()
    assert sum(int(end.rpartition(":")[2]) for end in ends) == 20_000


def test_the_verifiable_producer_gets_every_acknowledgement(tools: Tools, topic: str):
    output = tools.run(VERIFIABLE_PRODUCER, "--topic", topic, "--max-messages", "200")
    events = [json.loads(line) for line in output.splitlines()]

    assert [event["offset"] for event in events if "offset" in event] == list(range(200))
    assert (events[-1]["sent"], events[-1]["acked"]) == (200, 200)


def test_the_producers_of_a_partition_are_described(tools: Tools, topic: str):
    tools.run(CONSOLE_PRODUCER, "--topic", topic, stdin="one\ntwo\n")

    described = tools.run(TRANSACTIONS, "describe-producers", "--topic", topic, "--partition", "0")
    [row] = described.splitlines()[1:]
    producer_id, epoch, _, last_sequence, _, transaction = row.split()
    assert int(producer_id) >= 0
    assert (epoch, last_sequence, transaction) == ("0", "1", "None")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_kafka_reads_the_files_of_a_partition(broker: BrokerProcess, topic: str, compression: str):
    records = [Sent(b"value %d" % n, b"key %d" % n) for n in range(40)]
    ConfluentClient(broker.bootstrap).produce(
        topic, records, compression=compression, idempotent=True
    )

    files = ("--files", broker.log_file(topic))
    output = run_java(DUMP_LOG, *files, "--print-data-log", "--deep-iteration").decode()
    assert f"compresscodec: {compression}" in output
    assert output.count("| offset: ") == 40
    assert "key: key 39 payload: value 39" in output
    assert "isvalid: false" not in output
