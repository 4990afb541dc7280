"""A member of a group on kafka-python, which tells what it does (see ``member_events``)."""

import argparse
import importlib
import signal

from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata, TopicPartition

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

    def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
        tell_partitions(REVOKED, self._topic, [each.partition for each in revoked])

    def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
        tell_partitions(ASSIGNED, self._topic, [each.partition for each in assigned])


def _configs(options: argparse.Namespace) -> dict[str, object]:
    """What version 2.0 does not know, only where it is wanted."""
    configs: dict[str, object] = {}
    if options.instance_id is not None:
        configs["group_instance_id"] = options.instance_id
    if options.kind == "cooperative":
        assignors = importlib.import_module("kafka.coordinator.assignors.cooperative_sticky")
        configs["partition_assignment_strategy"] = [assignors.CooperativeStickyAssignor]
    return configs


class Member:
    """Polls, commits what it polled, and stops when it is told to."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._topic: str = options.topic
        self._stopping = False
        self._consumer = KafkaConsumer(
            bootstrap_servers=options.bootstrap,
            group_id=options.group,
            session_timeout_ms=options.session_timeout_ms,
            heartbeat_interval_ms=500,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            **_configs(options),
        )

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._stop)
        self._consumer.subscribe([self._topic], listener=Teller(self._topic))
        while not self._stopping:
            self._step()
        self._consumer.close()

    def _step(self) -> None:
        polled = self._consumer.poll(timeout_ms=200)
        if not polled:
            return
        wanted = {}
        for partition, records in polled.items():
            offsets = [record.offset for record in records]
            tell_consumed(self._topic, partition.partition, offsets)
            # The leader epoch came with version 2.1.
            fields = (offsets[-1] + 1, "", -1)[: len(OffsetAndMetadata._fields)]
            wanted[partition] = OffsetAndMetadata(*fields)
        self._consumer.commit(wanted)
        tell_committed(
            self._topic, {partition.partition: each.offset for partition, each in wanted.items()}
        )

    def _stop(self, *_: object) -> None:
        self._stopping = True


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("bootstrap", "group", "topic"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--session-timeout-ms", type=int, required=True)
    parser.add_argument("--kind", choices=["eager", "cooperative"], required=True)
    parser.add_argument("--instance-id")
    Member(parser.parse_args()).run()


if __name__ == "__main__":
    main()
