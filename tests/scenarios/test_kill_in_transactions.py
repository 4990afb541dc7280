"""SIGKILL in the middle of transactions: what was committed is there at once, nothing else ever is.

Some producers write to all partitions in transactions and end them as dice say; the broker is
killed under them again and again. A transaction whose commit was answered must be seen whole, one
that was aborted not at all, and one whose end nobody knows whole or not at all.
"""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from kbroker.client.cluster import Cluster
from kbroker.client.topics import create_topic
from tests.scenarios.broker_process import BrokerProcess
from tests.scenarios.history import History, Place

ROUNDS = 8
PRODUCERS = 3
TOPIC = "written"
PARTITIONS = 3
_TIMEOUT_S = 60.0


class TransactionalWriter:
    """One transactional id in a thread; it starts over with a new producer when one is done for."""

    def __init__(self, bootstrap: str, name: str, seed: int) -> None:
        self.name = name
        self.failures: list[str] = []
        # By transaction: its values with their places, and what became of it (None: nobody knows).
        self.transactions: list[tuple[list[tuple[int, bytes]], bool | None]] = []
        self.places: dict[bytes, Place] = {}
        self.ended = 0
        self._bootstrap = bootstrap
        self._dice = random.Random(seed)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stopping.is_set():
            try:
                producer = self._new_producer()
                while not self._stopping.is_set():
                    number += 1
                    self._transact(producer, number)
            except KafkaException as error:
                code = error.args[0]
                if not (code.fatal() or code.retriable() or code.txn_requires_abort()):
                    self.failures.append(str(error))
                    return

    def _new_producer(self) -> Producer:
        producer = Producer(
            {
                "bootstrap.servers": self._bootstrap,
                "transactional.id": self.name,
                "transaction.timeout.ms": 30_000,
                "message.timeout.ms": 30_000,
                "linger.ms": 1,
                "retry.backoff.ms": 20,
                "reconnect.backoff.ms": 10,
                "reconnect.backoff.max.ms": 50,
                "log_level": 0,
            }
        )
        producer.init_transactions(_TIMEOUT_S)
        return producer

    def _transact(self, producer: Producer, number: int) -> None:
        values: list[tuple[int, bytes]] = []
        fate: list[bool | None] = [None]
        producer.begin_transaction()
        try:
            for part in range(self._dice.randrange(1, 30)):
                partition = self._dice.randrange(PARTITIONS)
                value = b"%s %d %d" % (self.name.encode(), number, part)
                values.append((partition, value))
                producer.produce(TOPIC, value, partition=partition, on_delivery=self._delivered)
            if self._dice.random() < 0.3:
                producer.flush(_TIMEOUT_S)
                fate[0] = False  # an abort that fails leaves it to the broker to abort
                producer.abort_transaction(_TIMEOUT_S)
            else:
                self._commit(producer)
                fate[0] = True
            self.ended += 1
        except KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            fate[0] = False
            producer.abort_transaction(_TIMEOUT_S)
        finally:
            self.transactions.append((values, fate[0]))

    def _commit(self, producer: Producer) -> None:
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            try:
                producer.commit_transaction(_TIMEOUT_S)
                return
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise

    def _delivered(self, error: KafkaError | None, message: object) -> None:
        if error is None:
            place = Place(message.topic(), message.partition(), message.offset())
            self.places[message.value()] = place


def read(bootstrap: str, partition: int) -> Iterator[tuple[int, bytes]]:
    """Offsets and values up to the last stable offset, CRCs checked."""
    configs = {
        "bootstrap.servers": bootstrap,
        "group.id": "unused",
        "enable.partition.eof": True,
        "check.crcs": True,
        "isolation.level": "read_committed",
    }
    with closing(Consumer(configs)) as consumer:
        consumer.assign([TopicPartition(TOPIC, partition, 0)])
        while True:
            message = consumer.poll(10)
            assert message is not None, "the broker does not answer"
            if message.error() is None:
                yield message.offset(), message.value()
            elif message.error().code() == KafkaError._PARTITION_EOF:
                return
            else:
                raise KafkaException(message.error())


def check(bootstrap: str, writers: list[TransactionalWriter]) -> None:
    """Every transaction is seen whole or not at all, as its end says, and the logs are sound."""
    found = {partition: list(read(bootstrap, partition)) for partition in range(PARTITIONS)}
    seen = {value for records in found.values() for _, value in records}
    for writer in writers:
        history = History()
        for values, committed in writer.transactions:
            is_seen = {value in seen for _, value in values}
            assert is_seen != {True, False}, f"half a transaction: {values[0]}"
            assert committed is None or is_seen == {committed}, (values[0], committed)
            if True in is_seen:
                for partition, value in values:
                    history.sent(TOPIC, partition, value)
                    if value in writer.places:
                        history.acknowledged(value, writer.places[value])
        name = writer.name.encode() + b" "
        for partition, records in found.items():
            own = [(offset, value) for offset, value in records if value.startswith(name)]
            history.read(TOPIC, partition, own)
        # Markers and aborted records take offsets, so gaps are no anomaly here.
        assert [each for each in history.anomalies() if each.kind != "gap"] == []


@pytest.mark.slow
def test_transactions_are_seen_whole_or_not_at_all_after_kills(tmp_path: Path):
    """T4, T5, T9, T10, T11, P1 and P8."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    with BrokerProcess(tmp_path) as broker:
        with Cluster(broker.bootstrap) as cluster:
            create_topic(cluster, TOPIC, partitions=PARTITIONS, configs={})
        writers = [
            TransactionalWriter(broker.bootstrap, f"writer-{number}", seed + number)
            for number in range(PRODUCERS)
        ]
        for writer in writers:
            writer.start()
        try:
            for _ in range(ROUNDS):
                wait_for_progress(writers)
                time.sleep(dice.uniform(0.0, 0.3))
                broker.kill()
                broker.start()
        finally:
            for writer in writers:
                writer.stop()
        assert [failure for writer in writers for failure in writer.failures] == []
        finish(broker.bootstrap, writers)
        check(broker.bootstrap, writers)
        assert sum(writer.ended for writer in writers) > ROUNDS
        assert "Traceback" not in broker.stderr
        broker.stop()


def wait_for_progress(writers: list[TransactionalWriter]) -> None:
    """Until each writer has ended another transaction."""
    before = [writer.ended for writer in writers]
    deadline = time.monotonic() + _TIMEOUT_S
    while any(writer.ended == known for writer, known in zip(writers, before, strict=True)):
        assert time.monotonic() < deadline, "no transaction ends any more"
        assert not any(writer.failures for writer in writers), [w.failures for w in writers]
        time.sleep(0.01)


def finish(bootstrap: str, writers: list[TransactionalWriter]) -> None:
    """Take all ids over, so that what was left open is aborted."""
    for writer in writers:
        heir = Producer({"bootstrap.servers": bootstrap, "transactional.id": writer.name})
        heir.init_transactions(_TIMEOUT_S)
