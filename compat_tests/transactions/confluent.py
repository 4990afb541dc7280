"""Transactions of confluent-kafka (librdkafka)."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from compat_tests.contract_transactions import END, Refused

_TIMEOUT_S = 20.0


class ConfluentTransactor:
    """A Producer with a transactional.id."""

    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._bootstrap = bootstrap
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": timeout_ms,
                "linger.ms": 0,
            }
        )
        self._producer.init_transactions(_TIMEOUT_S)

    def begin(self) -> None:
        _try(self._producer.begin_transaction)

    def send(self, topic: str, values: Sequence[str], partition: int = 0) -> None:
        reports: list[KafkaError | None] = []
        for value in values:
            _try(
                lambda value=value: self._producer.produce(
                    topic,
                    value.encode(),
                    partition=partition,
                    on_delivery=lambda error, _: reports.append(error),
                )
            )
        left = _try(lambda: self._producer.flush(_TIMEOUT_S))
        assert left == 0
        for error in reports:
            if error is not None:
                raise Refused(str(error))

    def commit(self) -> None:
        _try(lambda: self._producer.commit_transaction(_TIMEOUT_S))

    def abort(self) -> None:
        _try(lambda: self._producer.abort_transaction(_TIMEOUT_S))

    def copy(self, source: str, target: str, group: str, count: int, *, commit: bool) -> list[str]:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
            }
        )
        with closing(consumer):
            consumer.subscribe([source])
            read: list[str] = []
            deadline = time.monotonic() + _TIMEOUT_S
            while len(read) < count and time.monotonic() < deadline:
                message = consumer.poll(0.5)
                if message is not None and message.error() is None:
                    read.append(message.value().decode())
                    last = message
            self.begin()
            self.send(target, [value.upper() for value in read])
            position = TopicPartition(source, 0, last.offset() + 1)
            metadata = consumer.consumer_group_metadata()
            _try(
                lambda: self._producer.send_offsets_to_transaction([position], metadata, _TIMEOUT_S)
            )
            if commit:
                self.commit()
            else:
                self.abort()
        return read


class ConfluentTransactions:
    """Producers and consumers of librdkafka."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def transactor(self, transactional_id: str, *, timeout_ms: int) -> ConfluentTransactor:
        return ConfluentTransactor(self._bootstrap, transactional_id, timeout_ms)

    def read(
        self, topic: str, *, committed: bool, timeout_s: float, partition: int = 0
    ) -> list[str]:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "nobody",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed" if committed else "read_uncommitted",
            }
        )
        read: list[str] = []
        with closing(consumer):
            consumer.assign([TopicPartition(topic, partition, 0)])
            deadline = time.monotonic() + timeout_s
            while read[-1:] != [END] and (left_s := deadline - time.monotonic()) > 0:
                message = consumer.poll(left_s)
                if message is not None and message.error() is None:
                    read.append(message.value().decode())
        return read


def _try(action: Callable[[], object]) -> object:
    try:
        return action()
    except KafkaException as error:
        raise Refused(str(error)) from error
    except SystemError as error:
        # A fatal error that comes in the midst of delivery reports: the client raises it while
        # Python believes that a report went well.
        if not isinstance(error.__cause__, KafkaException):
            raise
        raise Refused(str(error.__cause__)) from error
