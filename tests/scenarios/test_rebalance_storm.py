"""Thirty members that come and go as they please: one owner per partition, no commit goes back.

Some leave by a word and some without; when they have calmed down, the group settles in seconds.
Each run storms for a while. To storm for a minute:

    KBROKER_STORM_SECONDS=60 pytest -s tests/scenarios/test_rebalance_storm.py
"""

import os
import random
import time
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.errors import BrokerError
from kbroker.client.group_offsets import committed_offsets
from kbroker.client.groups import describe_group
from kbroker.client.topics import create_topic
from tests.scenarios.broker_process import BrokerProcess
from tests.scenarios.group_history import GroupHistory
from tests.scenarios.raw_members import ClassicMember, ConsumerMember, RawMember, Stage

MEMBERS = 30
PARTITIONS = 40
STORM_S = float(os.environ.get("KBROKER_STORM_SECONDS", "20"))
SETTLE_S = 5.0
# Members that go without a word are missed after this time, so a storm has many of them.
SESSION_TIMEOUT_MS = 2_000
OPTIONS = [
    word
    for config in (
        "group.initial.rebalance.delay.ms=0",
        "group.min.session.timeout.ms=1000",
        "group.consumer.min.session.timeout.ms=1000",
        f"group.consumer.session.timeout.ms={SESSION_TIMEOUT_MS}",
        "group.consumer.min.heartbeat.interval.ms=100",
        "group.consumer.heartbeat.interval.ms=200",
    )
    for word in ("--set", config)
]


def set_stage(broker: BrokerProcess, *, partitions: int, session_timeout_ms: int) -> Stage:
    """A topic, and nobody in the group yet."""
    with Cluster(broker.bootstrap) as cluster:
        create_topic(cluster, "orders", partitions=partitions)
        [topic] = cluster.metadata(["orders"]).topics
        # Whoever asks for a coordinator makes __consumer_offsets.
        cluster.retry(lambda: cluster.coordinator("storm"))
    return Stage(
        broker.host,
        broker.port,
        "storm",
        "orders",
        topic.topic_id,
        partitions,
        session_timeout_ms,
        GroupHistory(),
    )


def stored_offsets(cluster: Cluster, stage: Stage) -> dict[int, int]:
    stored = committed_offsets(cluster, stage.group_id)
    return {partition.partition: offset for partition, offset in stored.items()}


def settled(cluster: Cluster, stage: Stage, members: list[RawMember]) -> str:
    """What is still missing for a stable group; nothing if it is one."""
    try:
        described = describe_group(cluster, stage.group_id)
    except BrokerError as error:
        return str(error)
    if described.state != "Stable" or len(described.members) != len(members):
        return f"{described.state} with {len(described.members)} members"
    owned = sorted(partition for member in members for partition in member.owned)
    return "" if owned == list(range(stage.partitions)) else f"partitions {owned}"


def wait_until_settled(
    cluster: Cluster, stage: Stage, members: list[RawMember], timeout_s: float
) -> None:
    started_at = time.monotonic()
    deadline = started_at + timeout_s
    while missing := settled(cluster, stage, members):
        assert [failure for member in members for failure in member.failures] == []
        assert time.monotonic() < deadline, f"not settled after {timeout_s} s: {missing}"
        time.sleep(0.05)
    print(f"settled after {time.monotonic() - started_at:.2f} s")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ClassicMember, ConsumerMember])
def test_a_group_survives_a_storm_of_rebalances(tmp_path: Path, kind: type[RawMember]):
    """G4, G5, G7 and G9."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    with BrokerProcess(tmp_path, options=OPTIONS) as broker:
        stage = set_stage(broker, partitions=PARTITIONS, session_timeout_ms=SESSION_TIMEOUT_MS)
        members = [
            kind(stage, seed + number, restless=0.05, silent=0.3) for number in range(MEMBERS)
        ]
        for member in members:
            member.start()
        try:
            time.sleep(STORM_S)
            for member in members:
                member.restless = 0.0
            with Cluster(broker.bootstrap) as cluster:
                # The last who went without a word are still to be missed, and a pause that has
                # just begun takes a second more.
                time.sleep(SESSION_TIMEOUT_MS / 1000 + 1.0)
                wait_until_settled(cluster, stage, members, SETTLE_S)
        finally:
            for member in members:
                member.stop()
        assert [failure for member in members for failure in member.failures] == []
        with Cluster(broker.bootstrap) as cluster:
            assert stage.history.anomalies(stored_offsets(cluster, stage)) == []
            assert describe_group(cluster, stage.group_id).members == ()
        print(f"{stage.history.commits} commits in a storm of {STORM_S} s")
        assert stage.history.commits > 10 * MEMBERS
        assert "Traceback" not in broker.stderr
        broker.stop()
