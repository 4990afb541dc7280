"""Transactions of kafka-python."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from compat_tests.contract_transactions import END, Refused

_TIMEOUT_S = 20.0


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except KafkaError as error:
        raise Refused(repr(error)) from error


class KafkaPythonTransactor:
    """A KafkaProducer with a transactional_id."""

    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int) -> None:
        self._bootstrap = bootstrap
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap,
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
        )
        self._producer.init_transactions()

    def close(self) -> None:
        """Without waiting for what can no longer be sent."""
        self._producer.close(timeout=1)

    def begin(self) -> None:
        with _refusals():
            self._producer.begin_transaction()

    def send(self, topic: str, values: Sequence[str], partition: int = 0) -> None:
        with _refusals():
            futures = [
                self._producer.send(topic, value=value.encode(), partition=partition)
                for value in values
            ]
            for future in futures:
                future.get(_TIMEOUT_S)

    def commit(self) -> None:
        with _refusals():
            self._producer.commit_transaction()

    def abort(self) -> None:
        with _refusals():
            self._producer.abort_transaction()

    def copy(self, source: str, target: str, group: str, count: int, *, commit: bool) -> list[str]:
        consumer = KafkaConsumer(
            source,
            bootstrap_servers=self._bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            isolation_level="read_committed",
            consumer_timeout_ms=int(_TIMEOUT_S * 1000),
        )
        with closing(consumer):
            records = [next(consumer) for _ in range(count)]
            read = [record.value.decode() for record in records]
            self.begin()
            self.send(target, [value.upper() for value in read])
            position = OffsetAndMetadata(records[-1].offset + 1, "", -1)
            with _refusals():
                self._producer.send_offsets_to_transaction(
                    {TopicPartition(source, 0): position}, consumer.group_metadata()
                )
            if commit:
                self.commit()
            else:
                self.abort()
        return read


class KafkaPythonTransactions:
    """Producers and consumers of kafka-python."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._transactors: list[KafkaPythonTransactor] = []

    def close(self) -> None:
        """End all producers."""
        for transactor in self._transactors:
            transactor.close()

    def transactor(self, transactional_id: str, *, timeout_ms: int) -> KafkaPythonTransactor:
        transactor = KafkaPythonTransactor(self._bootstrap, transactional_id, timeout_ms)
        self._transactors.append(transactor)
        return transactor

    def read(
        self, topic: str, *, committed: bool, timeout_s: float, partition: int = 0
    ) -> list[str]:
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap,
            isolation_level="read_committed" if committed else "read_uncommitted",
        )
        read: list[str] = []
        with closing(consumer):
            assigned = TopicPartition(topic, partition)
            consumer.assign([assigned])
            consumer.seek_to_beginning(assigned)
            deadline = time.monotonic() + timeout_s
            while read[-1:] != [END] and time.monotonic() < deadline:
                for records in consumer.poll(timeout_ms=200).values():
                    read += [record.value.decode() for record in records]
        return read
