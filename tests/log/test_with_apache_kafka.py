"""Files go both ways: Kafka's tool reads what we wrote, and we serve what Apache Kafka wrote."""

import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as KafkaPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tools.apache_kafka import ApacheKafka, run_java

from kbroker.log import LogDirectory, PartitionLog
from kbroker.model import TopicPartition
from kbroker.records import parse_records, scan_batches
from tests.log.samples import (
    DEFAULTS,
    NOW_MS,
    append,
    append_marker,
    batch,
    content,
    idempotent,
    open_log,
    topic_config,
)

pytestmark = pytest.mark.java

DUMP = "org.apache.kafka.tools.DumpLogSegments"
SEGMENT_BYTES = 1024 * 1024


def test_kafkas_dump_tool_reads_every_file_without_complaint(tmp_path: Path) -> None:
    config = topic_config(segment_bytes=4000, index_interval_bytes=300)
    log = open_log(tmp_path, config=config)
    for number in range(40):
        append(log, batch(b"x" * 100, b"y", timestamp_ms=NOW_MS + number))
    append(log, idempotent(0, b"a", b"b", is_transactional=True))
    append_marker(log, committed=False)
    append(log, idempotent(2, b"c", is_transactional=True))
    append(log, idempotent(0, b"open", producer_id=8, is_transactional=True))
    append_marker(log, committed=True)
    log.close(clean=True)
    files = sorted(str(path) for path in (tmp_path / "orders-3").glob("0*"))
    kinds = {file.rpartition(".")[2] for file in files}
    assert kinds == {"log", "index", "timeindex", "txnindex", "snapshot"}

    output = run_java(DUMP, "--deep-iteration", "--print-data-log", "--files", ",".join(files))
    text = output.decode()
    assert "isvalid: false" not in text
    assert "mismatches" not in text.lower()
    assert "non-consecutive" not in text.lower()
    assert text.count("isvalid: true") == 40 + 5
    assert "endTxnMarker: ABORT" in text
    assert "producerId: 7 firstOffset: 80 lastOffset: 82 lastStableOffset: 83" in text
    assert "producerId: 8 producerEpoch: 0 coordinatorEpoch: -1 currentTxnFirstOffset" in text

    indexes = [file for file in files if file.endswith((".index", ".timeindex"))]
    checked = run_java(DUMP, "--index-sanity-check", "--files", ",".join(indexes)).decode()
    assert checked.count("passed sanity check") == len(indexes)


def produce(kafka: ApacheKafka) -> int:
    """Some megabytes and three transactions to topic "t"; the number of records."""
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    topic = NewTopic("t", 1, 1, config={"segment.bytes": str(SEGMENT_BYTES)})
    admin.create_topics([topic])["t"].result(30)
    producer = Producer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "transactional.id": "writer",
            "compression.type": "none",
            "linger.ms": 5,
        }
    )
    producer.init_transactions(60)
    for number in range(3):
        producer.begin_transaction()
        for record in range(1000):
            producer.produce("t", key=b"%d" % record, value=b"%d" % number + b"v" * 1000)
            producer.poll(0)
        producer.flush(60)
        producer.abort_transaction(60) if number == 1 else producer.commit_transaction(60)
    wait_for_the_last_marker(kafka)
    return 3000


def wait_for_the_last_marker(kafka: ApacheKafka) -> None:
    """A commit is answered when it is decided, some moments before its marker is written."""
    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "unused"})
    deadline = time.monotonic() + 30
    while consumer.get_watermark_offsets(KafkaPartition("t", 0), timeout=10)[1] < 3003:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    consumer.close()


def records_of(log: PartitionLog) -> list[bytes]:
    values = []
    offset = 0
    while data := content(log.read(offset, 1 << 25, up_to=log.log_end_offset)):
        for position, header in scan_batches(data):
            if not header.is_control:
                values += [record.value for record in parse_records(data, header, position)]
            offset = header.next_offset
    return values


@pytest.mark.parametrize("ending", ["stopped", "killed"])
def test_a_directory_of_apache_kafka_is_opened_and_served(ending: str) -> None:
    with ApacheKafka(heap="512m") as kafka:
        count = produce(kafka)
        if ending == "stopped":
            kafka.stop()
        else:
            kafka.kill()
        directory = LogDirectory.open(str(kafka.log_dir))
        assert directory.was_clean == (ending == "stopped")
        assert directory.meta is not None
        assert directory.meta.node_id == 1
        name = TopicPartition("t", 0)
        found = {each.topic_partition: each for each in directory.partitions()}[name]
        assert found.topic_id is not None
        log = PartitionLog.open(
            found.path,
            topic_partition=name,
            topic_id=found.topic_id,
            config=DEFAULTS,
            recovery_point=directory.read_recovery_points().get(name, 0),
            log_start_offset=directory.read_log_start_offsets().get(name, 0),
            clean=directory.was_clean,
            now_ms=NOW_MS,
        )
        assert len(log.segments) >= 3
        assert log.log_end_offset == count + 3  # and three markers
        values = records_of(log)
        assert len(values) == count
        assert {value[:1] for value in values} == {b"0", b"1", b"2"}
        (aborted,) = log.aborted_transactions(0, log.log_end_offset)
        assert aborted.first_offset == 1001
        (producer,) = log.active_producers()
        assert producer.producer_id == aborted.producer_id
        assert log.latest_epoch == 0
        assert append(log, batch(b"ours")).first_offset == count + 3
        log.close(clean=True)
        directory.close()
