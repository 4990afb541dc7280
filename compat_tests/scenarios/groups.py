"""Scenarios of groups: partitions are shared, handed over and read once."""

from compat_tests.groups_on_stage import come_back_as_static_member, share_and_hand_over
from compat_tests.scenarios.stage import Stage, as_received, numbered


def resume(stage: Stage) -> None:
    """A member reads 10 records, commits, leaves; the next one of the group gets those after."""
    topic = stage.new_topic()
    stage.client.produce(topic, numbered(10))
    first = stage.client.consume_in_group(stage.name, topic, 10)
    assert first == as_received(numbered(10))

    stage.client.produce(topic, numbered(5))
    second = stage.client.consume_in_group(stage.name, topic, 5)
    assert second == as_received(numbered(5), first_offset=10)


def _handed_over(stage: Stage, kind: str) -> None:
    members = stage.program.member_command(stage.bootstrap, kind)
    share_and_hand_over(members, stage.bootstrap, stage.folder)


def _static(stage: Stage, kind: str) -> None:
    members = stage.program.member_command(stage.bootstrap, kind)
    crash = stage.program.static_leaves_by_crash
    come_back_as_static_member(members, stage.bootstrap, stage.folder, by_crash=crash)


def eager(stage: Stage) -> None:
    """Members join, leave and are killed: no record lost or read twice, one owner at a time."""
    _handed_over(stage, "eager")


def cooperative(stage: Stage) -> None:
    """The same with the cooperative sticky assignor (KIP-429)."""
    _handed_over(stage, "cooperative")


def consumer_protocol(stage: Stage) -> None:
    """The same in the consumer protocol, where the coordinator assigns (KIP-848)."""
    _handed_over(stage, "consumer")


def static(stage: Stage) -> None:
    """A static member comes back: it gets its partitions, and the others see no rebalance."""
    _static(stage, "eager")


def static_in_consumer_protocol(stage: Stage) -> None:
    """The same in the consumer protocol."""
    _static(stage, "consumer")
