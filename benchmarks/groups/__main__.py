"""Runs both crowds against both brokers, and prints a table of rates, costs and ratios.

.venv/bin/python -m benchmarks.groups [--members 1000] [--rounds 20]
"""

import argparse
import resource

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from benchmarks.groups.crowd import Crowd
from benchmarks.hot_path.brokers import RunningBroker, apache_kafka, kbroker

_TOPIC = "committed"
_PARTITIONS = 4


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    # Kafka's usual delay, so that a thousand joins make one generation.
    delay = {"group.initial.rebalance.delay.ms": "3000", "offsets.topic.num.partitions": "50"}
    with apache_kafka(delay) as kafka, kbroker() as ours:
        for broker in (kafka, ours):
            admin = AdminClient({"bootstrap.servers": broker.bootstrap})
            for created in admin.create_topics([NewTopic(_TOPIC, _PARTITIONS, 1)]).values():
                created.result(30)
        print("| crowd | | Apache Kafka 4.3.1 | kbroker | ratio |\n|---|---|---:|---:|---:|")
        for groups in (1, arguments.members):
            _compare(kafka, ours, arguments.members, groups, arguments.rounds)


def _compare(
    kafka: RunningBroker, ours: RunningBroker, members: int, groups: int, rounds: int
) -> None:
    crowd = f"{members} members in {groups} group{'s' if groups > 1 else ''}"
    figures = []
    for broker in (kafka, ours):
        # A run that is not counted, for Java's compiler's sake.
        with Crowd(broker, members=members, groups=groups, name=f"warm-{groups}") as warming:
            warming.join()
            warming.beat(rounds)
            warming.commit(rounds, _TOPIC, _PARTITIONS)
        with Crowd(broker, members=members, groups=groups, name=f"bench-{groups}") as measured:
            joined_s = measured.join()
            beats = measured.beat(rounds)
            commits = measured.commit(rounds, _TOPIC, _PARTITIONS)
            figures.append((joined_s, beats, commits))
    (their_join, their_beats, their_commits), (join, beats, commits) = figures
    _row(crowd, "all assigned after s", their_join, join, less_is_better=True)
    _row(crowd, "heartbeats/s", their_beats.per_s, beats.per_s)
    _row(crowd, "broker CPU us/heartbeat", their_beats.cpu_us, beats.cpu_us, less_is_better=True)
    _row(crowd, "commits/s", their_commits.per_s, commits.per_s)
    _row(crowd, "broker CPU us/commit", their_commits.cpu_us, commits.cpu_us, less_is_better=True)


def _row(
    crowd: str, unit: str, theirs: float, mine: float, *, less_is_better: bool = False
) -> None:
    better, worse = (theirs, mine) if less_is_better else (mine, theirs)
    # A short run may take less processor time than the kernel counts.
    ratio = better / worse if worse else float("inf")
    print(f"| {crowd} | {unit} | {theirs:,.4g} | {mine:,.4g} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
