"""Transactions of aiokafka. One event loop serves all producers of a test."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from compat_tests.contract_transactions import END, Refused

_Result = TypeVar("_Result")
_TIMEOUT_S = 20.0


class AiokafkaTransactor:
    """An AIOKafkaProducer with a transactional_id."""

    def __init__(self, client: "AiokafkaTransactions", producer: AIOKafkaProducer) -> None:
        self._client = client
        self._producer = producer

    def begin(self) -> None:
        self._client.run(self._producer.begin_transaction())

    def send(self, topic: str, values: Sequence[str], partition: int = 0) -> None:
        async def send() -> None:
            futures = [
                await self._producer.send(topic, value.encode(), partition=partition)
                for value in values
            ]
            await asyncio.gather(*futures)

        self._client.run(send())

    def commit(self) -> None:
        self._client.run(self._producer.commit_transaction())

    def abort(self) -> None:
        self._client.run(self._producer.abort_transaction())

    def copy(self, source: str, target: str, group: str, count: int, *, commit: bool) -> list[str]:
        read, positions = self._client.run(self._read(source, group, count))
        self.begin()
        self.send(target, [value.upper() for value in read])
        # aiokafka tells the group alone, as clients did before KIP-447.
        self._client.run(self._producer.send_offsets_to_transaction(positions, group))
        if commit:
            self.commit()
        else:
            self.abort()
        return read

    async def _read(
        self, source: str, group: str, count: int
    ) -> tuple[list[str], dict[TopicPartition, int]]:
        consumer = AIOKafkaConsumer(
            source,
            bootstrap_servers=self._client.bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            isolation_level="read_committed",
        )
        async with consumer:
            records = [await consumer.getone() for _ in range(count)]
        position = {TopicPartition(source, 0): records[-1].offset + 1}
        return [record.value.decode() for record in records], position


class AiokafkaTransactions:
    """Producers and consumers of aiokafka, and the loop they live in."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._runner = asyncio.Runner()
        self._producers: list[AIOKafkaProducer] = []

    def run(self, action: Coroutine[object, object, _Result]) -> _Result:
        try:
            return self._runner.run(asyncio.wait_for(action, _TIMEOUT_S))
        except KafkaError as error:
            raise Refused(repr(error)) from error

    def close(self) -> None:
        """End all producers, and the loop."""
        for producer in self._producers:
            self._runner.run(producer.stop())
        self._runner.close()

    def transactor(self, transactional_id: str, *, timeout_ms: int) -> AiokafkaTransactor:
        async def start() -> AIOKafkaProducer:
            producer = AIOKafkaProducer(
                bootstrap_servers=self.bootstrap,
                transactional_id=transactional_id,
                transaction_timeout_ms=timeout_ms,
            )
            await producer.start()
            return producer

        producer = self.run(start())
        self._producers.append(producer)
        return AiokafkaTransactor(self, producer)

    def read(
        self, topic: str, *, committed: bool, timeout_s: float, partition: int = 0
    ) -> list[str]:
        return self._runner.run(self._read(topic, committed, timeout_s, partition))

    async def _read(
        self, topic: str, committed: bool, timeout_s: float, partition: int
    ) -> list[str]:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap,
            isolation_level="read_committed" if committed else "read_uncommitted",
        )
        read: list[str] = []
        async with consumer:
            consumer.assign([TopicPartition(topic, partition)])
            await consumer.seek_to_beginning()
            try:
                async with asyncio.timeout(timeout_s):
                    while read[-1:] != [END]:
                        read.append((await consumer.getone()).value.decode())
            except TimeoutError:
                pass
        return read
