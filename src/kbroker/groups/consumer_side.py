"""All consumer groups of a shard, with their deadlines and whom they ask.

This is what the modules about consumer groups share, and nothing else: the groups
as the records made them, the moments they wait for, and the classic groups of the
same shard, with which groups are exchanged (see migration.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple, Protocol

from kbroker.groups.group_change import GroupChange
from kbroker.groups.refused import RefusedError
from kbroker.groups.subscriptions import TopicMatches
from kbroker.machine import Deadlines
from kbroker.wire import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbroker.config import GroupConfig
    from kbroker.groups.caller import Caller
    from kbroker.groups.classic_answers import GroupOutcome
    from kbroker.groups.classic_group import ClassicGroup
    from kbroker.groups.consumer_group import ConsumerGroup
    from kbroker.groups.consumer_members import ConsumerMember
    from kbroker.groups.moment import Moment
    from kbroker.groups.settings import GroupSettings
    from kbroker.groups.topics_view import TopicsView
    from kbroker.machine import Ticket
    from kbroker.wire.messages.join_group import JoinGroupRequest


class ClassicSide(Protocol):
    """What consumer groups ask of the classic groups beside them."""

    def get(self, group_id: str) -> ClassicGroup | None:
        """The classic group with this id."""
        ...

    def remove(self, group: ClassicGroup) -> None:
        """Let a group go that nobody waits in."""
        ...

    def retire(self, group_id: str) -> GroupOutcome:
        """End a group that lives on here; whoever waits in it has to join again."""
        ...

    def join(
        self,
        request: JoinGroupRequest,
        caller: Caller,
        ticket: Ticket,
        at: Moment,
        new_member_id: str,
    ) -> GroupOutcome:
        """JoinGroup to a classic group."""
        ...


class Waits(Enum):
    """What a deadline of a consumer group is about."""

    SESSION = auto()
    """A member must let us hear from it."""
    REBALANCE = auto()
    """A member must give up partitions."""
    JOIN = auto()
    """A classic member was told to join again, and must."""
    SYNC = auto()
    """A classic member joined, and must ask for its assignment."""
    DOWNGRADED = auto()
    """A group became a classic one; it goes on there as soon as the records are replayed."""


class Wait(NamedTuple):
    """The name of a deadline; ``member_id`` is empty if it is the whole group's."""

    about: Waits
    group_id: str
    member_id: str = ""


class ParkedJoin(NamedTuple):
    """A classic join that made its group a classic one, and is decided there."""

    request: JoinGroupRequest
    caller: Caller
    ticket: Ticket
    new_member_id: str


def _no_overrides(_group_id: str) -> GroupConfig | None:
    return None


@dataclass(slots=True)
class ConsumerSide:
    """See the top of the file."""

    settings: GroupSettings
    topics: TopicsView
    classic: ClassicSide
    group_config: Callable[[str], GroupConfig | None] = _no_overrides
    """The configs that a group has of its own (KIP-848: consumer.session.timeout.ms ...)."""
    groups: dict[str, ConsumerGroup] = field(default_factory=dict)
    deadlines: Deadlines[Wait] = field(default_factory=Deadlines)
    parked_joins: dict[str, list[ParkedJoin]] = field(default_factory=dict)
    matches: TopicMatches = field(init=False)

    def __post_init__(self) -> None:
        self.matches = TopicMatches(self.topics)

    def group(self, group_id: str) -> ConsumerGroup:
        """The group with this id; `RefusedError` if there is no such consumer group."""
        group = self.groups.get(group_id)
        if group is None:
            raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return group

    def change(self, group: ConsumerGroup, moment: Moment) -> GroupChange:
        """What a request at this moment begins with."""
        interval_ms = self.assignment_interval_ms(group.group_id)
        return GroupChange(group, self.matches, moment.now_ms, interval_ms)

    def assignment_interval_ms(self, group_id: str) -> int:
        """How long a target assignment holds at least."""
        config = self.group_config(group_id)
        if config is None:
            return self.settings.consumer_assignment_interval_ms
        return config.consumer_assignment_interval_ms

    def session_timeout_ms(self, group_id: str) -> int:
        """How long a member of a group may stay silent."""
        config = self.group_config(group_id)
        if config is None:
            return self.settings.consumer_session_timeout_ms
        return config.consumer_session_timeout_ms

    def heartbeat_interval_ms(self, group_id: str) -> int:
        """How often a member of a group shall send heartbeats."""
        config = self.group_config(group_id)
        if config is None:
            return self.settings.consumer_heartbeat_interval_ms
        return config.consumer_heartbeat_interval_ms

    def extend_session(self, group_id: str, member: ConsumerMember, now: float) -> None:
        """Wait anew for the next sign of life; a classic member says itself how long."""
        timeout_ms = self.session_timeout_ms(group_id)
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        self.wait(Wait(Waits.SESSION, group_id, member.member_id), timeout_ms, now)

    def wait(self, wait: Wait, timeout_ms: int, now: float) -> None:
        """Let a deadline fall due after ``timeout_ms``."""
        self.deadlines.set(wait, now + timeout_ms / 1_000)

    def forget_waits(self, group_id: str, member_id: str) -> None:
        """Nothing is expected of a member any more."""
        for about in (Waits.SESSION, Waits.REBALANCE, Waits.JOIN, Waits.SYNC):
            self.deadlines.cancel(Wait(about, group_id, member_id))
