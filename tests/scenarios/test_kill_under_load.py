"""SIGKILL under load, again and again: nothing that was acknowledged is lost, doubled or moved.

One idempotent producer with acks=all lives through all of it, while topics are created on the
side. A kill leaves the page cache, so every acknowledged record must be there afterwards.
"""

import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from kbroker.client.cluster import Cluster
from kbroker.client.connection import Connection
from kbroker.client.errors import ClientError
from kbroker.client.topics import create_topic, topic_settings
from kbroker.model import Uuid
from kbroker.wire.error_codes import ErrorCode
from kbroker.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from tests.scenarios.broker_process import BrokerProcess
from tests.scenarios.history import History, Place

ROUNDS = 50
# A topic for each way to write: as by default, with a flush before each answer, and with segments
# that roll every few hundred batches.
TOPICS = {
    "plain": {},
    "flushed": {"flush.messages": "1"},
    "rolled": {"segment.bytes": str(1 << 20)},
}
PARTITIONS = 3


class Writer:
    """One producer in a thread of its own that writes to random partitions until told to stop."""

    def __init__(self, bootstrap: str, seed: int) -> None:
        self.history = History()
        self.failures: list[str] = []
        self._dice = random.Random(seed)
        self._stopping = threading.Event()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 2,
                "retry.backoff.ms": 20,
                "retry.backoff.max.ms": 50,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 50,
                # No record may give up: what is never acknowledged proves nothing.
                "message.timeout.ms": 120_000,
                "error_cb": self._on_error,
                "log_level": 0,
            }
        )
        self._thread = threading.Thread(target=self._run, name="writer")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Wait until everything that was sent is acknowledged."""
        self._stopping.set()
        self._thread.join()
        left = 0 if self.failures else self._producer.flush(60)
        assert left == 0, "records that are never acknowledged"

    def wait_for_progress(self) -> None:
        """Until something more is acknowledged: librdkafka takes its time after a reconnect."""
        before = self.history.acknowledged_count
        deadline = time.monotonic() + 20
        while self.history.acknowledged_count == before and not self.failures:
            assert time.monotonic() < deadline, "nothing is acknowledged any more"
            time.sleep(0.005)
        assert self.failures == []

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal():
            self.failures.append(str(error))

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failures.append(f"{message.value()[:20]!r}: {error}")
            return
        place = Place(message.topic(), message.partition(), message.offset())
        self.history.acknowledged(message.value(), place)

    def _run(self) -> None:
        try:
            self._write()
        except KafkaException as error:  # the producer is beyond repair
            self.failures.append(str(error))

    def _write(self) -> None:
        names = list(TOPICS)
        number = 0
        while not self._stopping.is_set():
            for _ in range(self._dice.randrange(1, 40)):
                topic = self._dice.choice(names)
                partition = self._dice.randrange(PARTITIONS)
                value = b"%d " % number + b"." * self._dice.choice((0, 10, 1000))
                self.history.sent(topic, partition, value)
                self._producer.produce(
                    topic, value, partition=partition, on_delivery=self._on_delivery
                )
                number += 1
            self._producer.poll(0.02)


@dataclass
class TopicMaker:
    """Creates one topic after another; a lost answer leaves open whether the topic exists."""

    broker: BrokerProcess
    acknowledged: dict[str, Uuid] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="topics")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def configs_of(self, name: str) -> dict[str, str]:
        """What each topic is created with: different values, so that none can be mixed up."""
        return {"retention.ms": str(1_000_000 + int(name.removeprefix("made-")))}

    def _run(self) -> None:
        number = 0
        while not self._stopping.is_set():
            number += 1
            try:
                self._create(f"made-{number}")
            except ClientError:
                self.unknown.add(f"made-{number}")
            time.sleep(0.1)

    def _create(self, name: str) -> None:
        configs = [
            CreatableTopicConfig(name=key, value=value)
            for key, value in self.configs_of(name).items()
        ]
        topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1, configs=configs)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        with Connection(self.broker.host, self.broker.port, timeout_s=10.0) as connection:
            (result,) = connection.ask(request, CreateTopicsResponse, version=7).topics
        if result.error_code == ErrorCode.NONE:
            self.acknowledged[name] = result.topic_id
        else:
            self.refused.append(f"{name}: {result.error_code} {result.error_message}")


def read_all(bootstrap: str, topic: str, partition: int) -> list[tuple[int, bytes]]:
    """Every record of a partition with its offset, as librdkafka reads it, CRCs checked."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "check.crcs": True,
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0)])
    records = []
    try:
        while True:
            message = consumer.poll(10)
            assert message is not None, "the broker does not answer"
            if message.error() is None:
                records.append((message.offset(), message.value()))
            elif message.error().code() == KafkaError._PARTITION_EOF:
                return records
            else:
                raise KafkaException(message.error())
    finally:
        consumer.close()


def check_topics(cluster: Cluster, maker: TopicMaker) -> None:
    """Every acknowledged topic is there as it was made, and no topic is there by half."""
    topics = cluster.metadata(None).topics
    found = {topic.name: topic for topic in topics if not topic.is_internal}
    assert maker.refused == []
    assert set(maker.acknowledged) <= set(found)
    assert set(found) - set(TOPICS) <= maker.acknowledged.keys() | maker.unknown
    for name, topic in found.items():
        assert topic.error_code == ErrorCode.NONE
        assert all(partition.error_code == ErrorCode.NONE for partition in topic.partitions)
        if name in TOPICS:
            continue
        assert name in maker.unknown or topic.topic_id == maker.acknowledged[name]
        assert [partition.partition_index for partition in topic.partitions] == [0, 1]
        settings = {setting.name: setting.value for setting in topic_settings(cluster, name)}
        # The second is set for all brokers of a new cluster, as in Kafka.
        assert settings == maker.configs_of(name) | {"min.insync.replicas": "1"}
        for partition in range(2):
            directory = maker.broker.partition_dir(name, partition)
            assert (directory / "partition.metadata").exists()


# A minute where nothing else runs: fifty starts of a broker, and clients that back off.
@pytest.mark.timeout(300)
@pytest.mark.slow
def test_no_acknowledged_record_or_topic_is_lost_in_fifty_kills(tmp_path: Path):
    """L3, P1, P8 and the promise itself, for a broker that is alone."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    with BrokerProcess(tmp_path) as broker:
        with Cluster(broker.bootstrap) as cluster:
            for name, configs in TOPICS.items():
                create_topic(cluster, name, partitions=PARTITIONS, configs=configs)
        writer, maker = Writer(broker.bootstrap, seed), TopicMaker(broker)
        writer.start()
        maker.start()
        try:
            for number in range(1, ROUNDS + 1):
                writer.wait_for_progress()
                time.sleep(dice.uniform(0.0, 0.3))
                broker.kill()
                killed_at = time.monotonic()
                broker.start()
                print(
                    f"round {number}: {writer.history.acknowledged_count} acknowledged, "
                    f"{len(maker.acknowledged)} topics, serves again after "
                    f"{time.monotonic() - killed_at:.2f} s"
                )
        except BaseException:  # a timeout of pytest too
            print(f"what the broker said last:\n{broker.stderr[-8000:]}")
            raise
        finally:
            maker.stop()
            writer.stop()
        assert writer.failures == []
        for topic in TOPICS:
            for partition in range(PARTITIONS):
                records = read_all(broker.bootstrap, topic, partition)
                writer.history.read(topic, partition, records)
        assert writer.history.anomalies() == []
        assert writer.history.acknowledged_count > ROUNDS
        assert len(maker.acknowledged) >= ROUNDS // 2
        with Cluster(broker.bootstrap) as cluster:
            check_topics(cluster, maker)
        assert "Traceback" not in broker.stderr
        broker.stop()
