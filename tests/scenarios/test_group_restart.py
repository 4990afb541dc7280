"""SIGKILL in the middle of rebalances and commits: the group goes on where it was.

The coordinator knows nothing but what lies in __consumer_offsets, so whatever it has confirmed to a
member must be there after a kill, and members need not notice it.
"""

import random
import time
from pathlib import Path

import pytest

from kbroker.client.cluster import Cluster
from kbroker.client.groups import describe_group
from tests.scenarios.broker_process import BrokerProcess
from tests.scenarios.raw_members import ClassicMember, ConsumerMember, RawMember, Stage
from tests.scenarios.test_rebalance_storm import (
    OPTIONS,
    set_stage,
    stored_offsets,
    wait_until_settled,
)

KILLS = 8
MEMBERS = 6
PARTITIONS = 12
# A classic group forgets over a kill who has left since the last generation began, as Apache Kafka
# does; the next one then waits until those are missed, so that had better be soon.
SHORT_SESSION_MS = 2_000
# Longer than a restart: nobody is missed because of one.
LONG_SESSION_MS = 10_000


def options(session_timeout_ms: int) -> list[str]:
    return [*OPTIONS, "--set", f"group.consumer.session.timeout.ms={session_timeout_ms}"]


def wait_for_commits(stage: Stage, count: int) -> None:
    """Until so many more are confirmed."""
    before, deadline = stage.history.commits, time.monotonic() + 30
    while stage.history.commits < before + count:
        assert time.monotonic() < deadline, "commits do not go on"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ClassicMember, ConsumerMember])
def test_no_confirmed_commit_is_lost_when_the_broker_is_killed(
    tmp_path: Path, kind: type[RawMember]
):
    """G1, G5 and G9."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    with BrokerProcess(tmp_path, options=options(SHORT_SESSION_MS)) as broker:
        stage = set_stage(broker, partitions=PARTITIONS, session_timeout_ms=SHORT_SESSION_MS)
        members = [kind(stage, seed + number, restless=0.03) for number in range(MEMBERS)]
        for member in members:
            member.start()
        try:
            for number in range(KILLS):
                # In turns: while members commit, and wherever the rebalance is by then.
                if number % 2 == 0:
                    wait_for_commits(stage, 10)
                time.sleep(dice.uniform(0.0, 1.5))
                broker.kill()
                confirmed = dict(stage.history.confirmed)
                broker.start()
                with Cluster(broker.bootstrap) as cluster:
                    stored = stored_offsets(cluster, stage)
                lost = {
                    partition: (offset, stored.get(partition))
                    for partition, offset in confirmed.items()
                    if stored.get(partition, -1) < offset
                }
                assert lost == {}
            for member in members:
                member.restless = 0.0
            with Cluster(broker.bootstrap) as cluster:
                wait_until_settled(cluster, stage, members, SHORT_SESSION_MS / 1000 + 10)
        finally:
            for member in members:
                member.stop()
        assert [failure for member in members for failure in member.failures] == []
        with Cluster(broker.bootstrap) as cluster:
            assert stage.history.anomalies(stored_offsets(cluster, stage)) == []
        assert "Traceback" not in broker.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ClassicMember, ConsumerMember])
def test_members_of_a_quiet_group_keep_everything_when_the_broker_is_killed(
    tmp_path: Path, kind: type[RawMember]
):
    """Same ids, same generation or epoch, same partitions, and commits go on."""
    with BrokerProcess(tmp_path, options=options(LONG_SESSION_MS)) as broker:
        stage = set_stage(broker, partitions=PARTITIONS, session_timeout_ms=LONG_SESSION_MS)
        members = [kind(stage, number) for number in range(MEMBERS)]
        for member in members:
            member.start()

        def situation() -> list[tuple[str, int, frozenset[int]]]:
            return [(member.member_id, member.epoch, member.owned) for member in members]

        try:
            with Cluster(broker.bootstrap) as cluster:
                wait_until_settled(cluster, stage, members, 20)
            time.sleep(1)  # the last beat of the last member is over
            before = situation()
            for _ in range(3):
                broker.kill()
                broker.start()
                wait_for_commits(stage, 5 * MEMBERS)
            assert situation() == before
            with Cluster(broker.bootstrap) as cluster:
                described = describe_group(cluster, stage.group_id)
            assert (described.state, len(described.members)) == ("Stable", MEMBERS)
        finally:
            for member in members:
                member.stop()
        assert [failure for member in members for failure in member.failures] == []
