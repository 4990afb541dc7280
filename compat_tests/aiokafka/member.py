"""A member of a group on aiokafka, which tells what it does (see ``member_events``)."""

import argparse
import asyncio
import signal

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition

from compat_tests.member_events import (
    ASSIGNED,
    REVOKED,
    tell_committed,
    tell_consumed,
    tell_partitions,
)


class Teller(ConsumerRebalanceListener):
    """Says what comes and goes."""

    def __init__(self, topic: str) -> None:
        self._topic = topic
        # While records are read and committed, none of their partitions may go.
        self.busy = asyncio.Lock()

    async def on_partitions_revoked(self, revoked: frozenset[TopicPartition]) -> None:
        async with self.busy:
            tell_partitions(REVOKED, self._topic, [each.partition for each in revoked])

    async def on_partitions_assigned(self, assigned: frozenset[TopicPartition]) -> None:
        tell_partitions(ASSIGNED, self._topic, [each.partition for each in assigned])


async def run(options: argparse.Namespace) -> None:
    """Poll, commit what was polled, and stop when told to."""
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=options.bootstrap,
        group_id=options.group,
        group_instance_id=options.instance_id,
        session_timeout_ms=options.session_timeout_ms,
        heartbeat_interval_ms=500,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    teller = Teller(options.topic)
    consumer.subscribe([options.topic], listener=teller)
    async with consumer:
        while not stopping.is_set():
            async with teller.busy:
                await step(consumer, options.topic)
            await asyncio.sleep(0)
        # aiokafka does not call the listener when it is closed.
        tell_partitions(REVOKED, options.topic, [each.partition for each in consumer.assignment()])


async def step(consumer: AIOKafkaConsumer, topic: str) -> None:
    """What arrives within a moment."""
    polled = await consumer.getmany(timeout_ms=100)
    wanted = {}
    for partition, records in polled.items():
        offsets = [record.offset for record in records]
        tell_consumed(topic, partition.partition, offsets)
        wanted[partition] = offsets[-1] + 1
    if wanted:
        await consumer.commit(wanted)
        tell_committed(topic, {each.partition: offset for each, offset in wanted.items()})


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("bootstrap", "group", "topic"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--session-timeout-ms", type=int, required=True)
    parser.add_argument("--kind", choices=["eager"], required=True)
    parser.add_argument("--instance-id")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
