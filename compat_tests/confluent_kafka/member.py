"""A member of a group on confluent-kafka, which tells what it does (see ``member_events``)."""

import argparse
import signal

from confluent_kafka import Consumer, KafkaException, TopicPartition

from compat_tests.member_events import (
    ASSIGNED,
    REVOKED,
    tell_committed,
    tell_consumed,
    tell_partitions,
)

ASSIGNORS = {"eager": "range", "cooperative": "cooperative-sticky"}


class Member:
    """Polls, commits what it polled, and stops when it is told to."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._topic: str = options.topic
        self._stopping = False
        configs = {
            "bootstrap.servers": options.bootstrap,
            "group.id": options.group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        if options.kind == "consumer":
            configs["group.protocol"] = "consumer"
        else:
            configs["partition.assignment.strategy"] = ASSIGNORS[options.kind]
            configs["session.timeout.ms"] = options.session_timeout_ms
            configs["heartbeat.interval.ms"] = 500
        if options.instance_id is not None:
            configs["group.instance.id"] = options.instance_id
        self._consumer = Consumer(configs)

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._stop)
        self._consumer.subscribe(
            [self._topic],
            on_assign=lambda _, partitions: self._tell(ASSIGNED, partitions),
            on_revoke=lambda _, partitions: self._tell(REVOKED, partitions),
        )
        while not self._stopping:
            self._step()
        self._consumer.close()

    def _step(self) -> None:
        offsets: dict[int, list[int]] = {}
        for message in self._consumer.consume(100, 0.2):
            if message.error():
                raise KafkaException(message.error())
            offsets.setdefault(message.partition(), []).append(message.offset())
        if not offsets:
            return
        for partition, read in offsets.items():
            tell_consumed(self._topic, partition, read)
        wanted = [
            TopicPartition(self._topic, partition, read[-1] + 1)
            for partition, read in offsets.items()
        ]
        committed = self._consumer.commit(offsets=wanted, asynchronous=False)
        tell_committed(self._topic, {each.partition: each.offset for each in committed})

    def _tell(self, name: str, partitions: list[TopicPartition]) -> None:
        tell_partitions(name, self._topic, [each.partition for each in partitions])

    def _stop(self, *_: object) -> None:
        self._stopping = True


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("bootstrap", "group", "topic"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--kind", choices=[*ASSIGNORS, "consumer"], required=True)
    parser.add_argument("--session-timeout-ms", type=int, required=True)
    parser.add_argument("--instance-id")
    Member(parser.parse_args()).run()


if __name__ == "__main__":
    main()
