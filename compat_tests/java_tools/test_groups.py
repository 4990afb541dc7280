"""Groups of the Java consumer, of both protocols: Kafka's own VerifiableConsumer and the console's.

VerifiableConsumer prints the events that the stage of groups wants, so it is a member as it is.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tools.apache_kafka import class_path

from compat_tests.client import Sent
from compat_tests.confluent_kafka.adapter import ConfluentClient
from compat_tests.groups_on_stage import come_back_as_static_member, share_and_hand_over
from compat_tests.java_tools.tool import CONSOLE_CONSUMER, GROUPS, VERIFIABLE_CONSUMER, Tools
from compat_tests.member_process import MemberCommand

KINDS = {
    "classic eager": ("--group-protocol", "classic"),
    "classic cooperative": (
        *("--group-protocol", "classic", "--assignment-strategy"),
        "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    ),
    "consumer": ("--group-protocol", "consumer"),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS.keys())
def members(request: pytest.FixtureRequest, bootstrap: str, tmp_path: Path) -> MemberCommand:
    kind: tuple[str, ...] = request.param

    def command(
        *, group: str, topic: str, session_timeout_ms: int, instance_id: str | None
    ) -> tuple[list[str], Mapping[str, str] | None]:
        words = ["java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        words += ["-cp", class_path(), VERIFIABLE_CONSUMER, "--bootstrap-server", bootstrap]
        words += ["--topic", topic, "--group-id", group, *kind]
        if "classic" in kind:
            words += ["--session-timeout", str(session_timeout_ms)]
            # The tool has no option for it, and its default makes each rebalance wait for seconds.
            properties = tmp_path / "consumer.properties"
            properties.write_text("heartbeat.interval.ms=500\n")
            words += ["--command-config", str(properties)]
        if instance_id is not None:
            words += ["--group-instance-id", instance_id]
        return words, None

    return command


def test_partitions_are_shared_handed_over_and_resumed_without_losing_a_record(
    members: MemberCommand, bootstrap: str, tmp_path: Path
):
    share_and_hand_over(members, bootstrap, tmp_path)


def test_a_static_member_that_comes_back_gets_its_partitions_without_a_rebalance(
    members: MemberCommand, bootstrap: str, tmp_path: Path
):
    come_back_as_static_member(members, bootstrap, tmp_path)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_the_console_consumer_goes_on_where_its_group_stopped(
    tools: Tools, bootstrap: str, topic: str, protocol: str
):
    client, group = ConfluentClient(bootstrap), f"console-{topic}"

    def consumed(count: int) -> list[str]:
        """By a new member of the group, which reads that many records and leaves."""
        return tools.run(
            CONSOLE_CONSUMER,
            *("--topic", topic, "--group", group, "--from-beginning"),
            *("--max-messages", str(count), "--timeout-ms", "30000"),
            *("--command-property", f"group.protocol={protocol}"),
        ).splitlines()

    client.produce(topic, [Sent(b"%d" % n) for n in range(10)])
    assert consumed(10) == [str(n) for n in range(10)]
    client.produce(topic, [Sent(b"%d" % n) for n in range(10, 15)])
    assert consumed(5) == [str(n) for n in range(10, 15)]
    [listed] = [line for line in tools.run(GROUPS, "--list").splitlines() if line.startswith(group)]
    assert listed.split()[1].lower() == protocol
