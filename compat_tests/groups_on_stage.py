"""What must hold for the members of a group, whichever client they are.

A client's folder says how a member is started; everything else is the same for all: the same topic,
the same joins, leaves and crashes, and the same question at the end, which is whether each record
was read once and each partition had one owner at a time.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from compat_tests.client import Sent
from compat_tests.confluent_kafka.adapter import ConfluentAdmin, ConfluentClient
from compat_tests.member_events import (
    Life,
    committed_offsets,
    consumed_offsets,
    regressions,
    shared_ownerships,
)
from compat_tests.member_process import MemberCommand, MemberProcess

PARTITIONS = 4
# The shortest that a coordinator allows by default; a crash is noticed only after it.
SHORT_SESSION_MS = 6_000
# Enough for a JVM to start again in the meantime.
LONG_SESSION_MS = 30_000
_WAIT_S = 40.0


class GroupOnStage:
    """One group on one topic, with all its members and all that was sent."""

    def __init__(
        self, command: MemberCommand, bootstrap: str, folder: Path, *, session_timeout_ms: int
    ) -> None:
        self.group = f"group-{uuid4().hex[:8]}"
        self.topic = f"topic-{uuid4().hex[:8]}"
        self._command = command
        self._folder = folder
        self._session_timeout_ms = session_timeout_ms
        self._client = ConfluentClient(bootstrap)
        self._admin = ConfluentAdmin(bootstrap)
        self._admin.create_topic(self.topic, partitions=PARTITIONS)
        self._set_session_timeout()
        self._sent = 0
        self.members: list[MemberProcess] = []

    @property
    def lives(self) -> list[Life]:
        return [member.life for member in self.members]

    def start(self, *, instance_id: str | None = None) -> MemberProcess:
        command, environment = self._command(
            group=self.group,
            topic=self.topic,
            session_timeout_ms=self._session_timeout_ms,
            instance_id=instance_id,
        )
        name = f"member-{len(self.members)}"
        member = MemberProcess(name, command, self._folder, environment=environment)
        self.members.append(member)
        return member

    def feed(self, count: int = 20) -> None:
        """Send so many records to each partition."""
        sent = [
            Sent(b"%d" % (self._sent + number), partition=partition)
            for number in range(count)
            for partition in range(PARTITIONS)
        ]
        self._client.produce(self.topic, sent)
        self._sent += count

    def wait_for_owners(self, **counts: int) -> None:
        """Until the running members own this many partitions each, all of them together."""
        wanted = sorted(counts.values())

        def settled() -> bool:
            owned = [life.owned for life in self.lives if life.ended_at_ms is None]
            return sorted(map(len, owned)) == wanted and sum(wanted) == len(
                frozenset().union(*owned)
            )

        self._wait(settled, f"{wanted} partitions for the members")

    def wait_for_commits(self) -> None:
        """Until everything that was sent is consumed and committed."""
        wanted = dict.fromkeys(range(PARTITIONS), self._sent)
        self._wait(lambda: committed_offsets(self.lives) == wanted, f"commits of {wanted}")

    def check(self) -> None:
        """Nothing lost, nothing skipped, nothing read twice; one owner; no commit went back."""
        offsets = list(range(self._sent))
        assert consumed_offsets(self.lives) == dict.fromkeys(range(PARTITIONS), offsets)
        assert shared_ownerships(self.lives) == []
        assert regressions(self.lives) == []
        assert self._stored_offsets() == dict.fromkeys(range(PARTITIONS), self._sent)

    def end(self) -> None:
        for member in self.members:
            if member.life.ended_at_ms is None:
                member.crash()

    def _wait(self, condition: Callable[[], bool], wish: str) -> None:
        deadline = time.monotonic() + _WAIT_S
        while not condition():
            for member in self.members:
                ended = member.life.ended_at_ms is None and not member.is_running
                assert not ended, f"{member.life.name} ended by itself:\n{member.words}"
            assert time.monotonic() < deadline, f"no {wish}:\n{self._situation()}"
            time.sleep(0.02)

    def _situation(self) -> str:
        return "\n".join(
            f"{member.life.name} owns {sorted(member.life.owned)}; {member.words}"
            for member in self.members
        ) + str(committed_offsets(self.lives))

    def _stored_offsets(self) -> dict[int, int]:
        return self._admin.group_offsets(self.group, self.topic)

    def _set_session_timeout(self) -> None:
        """Members of consumer groups do not choose it: it is a config of the group (KIP-848)."""
        entry = ConfigEntry(
            "consumer.session.timeout.ms",
            str(self._session_timeout_ms),
            incremental_operation=AlterConfigOpType.SET,
        )
        resource = ConfigResource(ResourceType.GROUP, self.group, incremental_configs=[entry])
        self._admin.admin.incremental_alter_configs([resource])[resource].result(20)


@contextmanager
def on_stage(
    command: MemberCommand, bootstrap: str, folder: Path, *, session_timeout_ms: int
) -> Iterator[GroupOnStage]:
    """A group whose members are gone at the end, whatever happened."""
    stage = GroupOnStage(command, bootstrap, folder, session_timeout_ms=session_timeout_ms)
    try:
        yield stage
    finally:
        stage.end()


def share_and_hand_over(members: MemberCommand, bootstrap: str, folder: Path) -> None:
    """Members join, leave and crash; G4, G5, G9 and G10, as far as a client can see them."""
    with on_stage(members, bootstrap, folder, session_timeout_ms=SHORT_SESSION_MS) as stage:
        stage.feed()
        stayer = stage.start()
        stage.wait_for_owners(stayer=4)
        leaver = stage.start()
        stage.wait_for_owners(stayer=2, leaver=2)
        stage.feed()
        stage.wait_for_commits()
        leaver.leave()
        stage.wait_for_owners(stayer=4)
        stage.feed()

        crasher = stage.start()
        stage.wait_for_owners(stayer=2, crasher=2)
        stage.feed()
        stage.wait_for_commits()  # so that the crash leaves nothing to be read twice
        crasher.crash()
        stage.feed()
        stage.wait_for_owners(stayer=4)
        stage.wait_for_commits()
        stayer.leave()

        stage.feed()
        resumer = stage.start()
        stage.wait_for_commits()
        resumer.leave()
        stage.check()


def come_back_as_static_member(
    members: MemberCommand, bootstrap: str, folder: Path, *, by_crash: bool = False
) -> None:
    """A member with group.instance.id (KIP-345) returns without a rebalance: G6.

    Some clients tell the coordinator that they leave although they mean to come back. They are
    killed (``by_crash``), which is what static membership is for; in a consumer group, though, one
    who was killed is not replaced before its session is over (UNRELEASED_INSTANCE_ID).
    """
    with on_stage(members, bootstrap, folder, session_timeout_ms=LONG_SESSION_MS) as stage:
        stayer = stage.start(instance_id="stayer")
        stage.wait_for_owners(stayer=4)
        before = stage.start(instance_id="returner")
        stage.wait_for_owners(stayer=2, before=2)
        stage.feed()
        stage.wait_for_commits()
        owned, rebalances = before.life.owned, stayer.life.rebalances
        if by_crash:
            before.crash()
        else:
            before.leave()
        stage.feed()

        after = stage.start(instance_id="returner")
        stage.wait_for_owners(stayer=2, after=2)
        stage.wait_for_commits()
        assert after.life.owned == owned
        assert stayer.life.rebalances == rebalances
        stage.check()
