"""How a classic group comes from one generation to the next.

    somebody joins, leaves or is lost
      -> PreparingRebalance: everybody has to join again
         an empty group first gathers members for group.initial.rebalance.delay.ms, and again
         that long whenever somebody came meanwhile, up to the rebalance timeout
      -> all joined, or the rebalance timeout passed: dynamic members that are missing are out
      -> CompletingRebalance: everybody is told the generation, the leader also the members
      -> the leader's sync brings the assignment (classic_sync), which is written
      -> Stable

Nobody waits for ever: a parked join is bounded by the rebalance timeout, a parked sync by the
sync deadline, which is the same time again, and members that are neither parked nor heard of by
their session.
"""

from enum import IntEnum
from typing import NamedTuple

from kbroker.groups.classic_answers import GroupOutcome, end_join, end_sync, join_refused, joined
from kbroker.groups.classic_group import ClassicGroup, ClassicState
from kbroker.groups.classic_member import ClassicMember
from kbroker.groups.moment import Moment
from kbroker.groups.settings import GroupSettings
from kbroker.machine import Deadlines, Outcome, Ticket
from kbroker.wire import ErrorCode, Message

# A new member sends no heartbeats while it waits for its first generation, and a client that
# gave up cannot be told from one that waits. After this time it is asked to join again.
NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000


class DeadlineKind(IntEnum):
    """What a classic group waits for; integers, because every heartbeat hashes one."""

    SESSION = 0  # a sign of life from one member
    JOIN = 1  # all members to join
    SYNC = 2  # all members to ask for their assignment


class ClassicDeadline(NamedTuple):
    """The name of a deadline; sessions have a member, the others concern the whole group."""

    kind: DeadlineKind
    group_id: str
    member_id: str = ""


class ClassicRebalance:
    """The steps of a rebalance, and every deadline that classic groups have."""

    def __init__(self, settings: GroupSettings) -> None:
        self.settings = settings
        self.deadlines: Deadlines[ClassicDeadline] = Deadlines()

    # --- sessions ----------------------------------------------------------------

    def keep_alive(self, group: ClassicGroup, member_id: str, timeout_ms: int, at: Moment) -> None:
        """Let the session of a member (or a pending one) run from now on."""
        key = ClassicDeadline(DeadlineKind.SESSION, group.group_id, member_id)
        self.deadlines.set(key, at.now + timeout_ms / 1000)

    def end_session(self, group: ClassicGroup, member_id: str) -> None:
        """Wait no more for signs of life."""
        self.deadlines.cancel(ClassicDeadline(DeadlineKind.SESSION, group.group_id, member_id))

    def session_expired(self, group: ClassicGroup, member_id: str, at: Moment) -> GroupOutcome:
        """Put out a member that stayed silent, or a pending one that never joined (G7)."""
        member = group.members.get(member_id)
        if member is None:
            group.remove(member_id)
            return self._complete_if_all_joined(group, at)
        if member.is_excused:
            return Outcome()  # its session starts again with the answer it waits for
        return self.remove_member(group, member) + self._go_on(group, at)

    def remove_member(self, group: ClassicGroup, member: ClassicMember) -> GroupOutcome:
        """Take a member out; if it is there after all, it learns that it must join anew."""
        error = ErrorCode.UNKNOWN_MEMBER_ID
        answers = end_join(group, member, join_refused(error, "", member.join_version))
        answers += end_sync(member, error)
        self.end_session(group, member.member_id)
        group.remove(member.member_id)
        return answers

    def _go_on(self, group: ClassicGroup, at: Moment) -> GroupOutcome:
        if group.can_rebalance:
            return self.prepare(group, at)
        return self._complete_if_all_joined(group, at)

    def _complete_if_all_joined(self, group: ClassicGroup, at: Moment) -> GroupOutcome:
        # Unlike `try_complete` also during the initial delay: a member that is lost then was
        # waited for long enough.
        if group.state is ClassicState.PREPARING_REBALANCE and group.all_joined:
            return self.complete_join(group, at)
        return Outcome()

    # --- preparing ---------------------------------------------------------------

    def prepare_or_complete(self, group: ClassicGroup, at: Moment) -> GroupOutcome:
        """Start a rebalance; if one is being prepared already, see whether it can go on."""
        if group.can_rebalance:
            return self.prepare(group, at)
        return self.try_complete(group, at)

    def prepare(self, group: ClassicGroup, at: Moment) -> GroupOutcome:
        """Start a rebalance: whoever waits for an assignment of the old generation joins again."""
        answers: GroupOutcome = Outcome()
        if group.state is ClassicState.COMPLETING_REBALANCE:
            for member in group.members.values():
                member.assignment = b""
                if member.sync_ticket is not None:
                    answers += end_sync(member, ErrorCode.REBALANCE_IN_PROGRESS)
                    self.keep_alive(group, member.member_id, member.session_timeout_ms, at)
        group.pending_syncs.clear()
        self.deadlines.cancel(ClassicDeadline(DeadlineKind.SYNC, group.group_id))
        was_empty = group.state is ClassicState.EMPTY
        group.move(ClassicState.PREPARING_REBALANCE, at.now_ms)
        if was_empty:
            delay_ms = self.settings.initial_rebalance_delay_ms
            remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self._delay(group, delay_ms, remaining_ms, at)
            return answers
        if group.all_joined:
            return answers + self.complete_join(group, at)
        self._wait_for_joins(group, at)
        return answers

    def try_complete(self, group: ClassicGroup, at: Moment) -> GroupOutcome:
        """Go on if everybody joined, unless an empty group is still gathering members."""
        if group.initial_delay is not None:
            return Outcome()
        return self._complete_if_all_joined(group, at)

    def join_deadline(self, group: ClassicGroup, at: Moment) -> GroupOutcome:
        """Go on without those who are missing, or extend the initial delay."""
        if group.initial_delay is not None and group.member_added:
            delay_ms, remaining_ms = group.initial_delay
            if remaining_ms > 0:
                group.member_added = False
                next_delay_ms = min(self.settings.initial_rebalance_delay_ms, remaining_ms)
                self._delay(group, next_delay_ms, max(remaining_ms - delay_ms, 0), at)
                return Outcome()
        return self.complete_join(group, at)

    def _delay(self, group: ClassicGroup, delay_ms: int, remaining_ms: int, at: Moment) -> None:
        group.initial_delay = (delay_ms, remaining_ms)
        key = ClassicDeadline(DeadlineKind.JOIN, group.group_id)
        self.deadlines.set(key, at.now + delay_ms / 1000)

    def _wait_for_joins(self, group: ClassicGroup, at: Moment) -> None:
        key = ClassicDeadline(DeadlineKind.JOIN, group.group_id)
        self.deadlines.set(key, at.now + group.rebalance_timeout_ms / 1000)

    # --- completing --------------------------------------------------------------

    def complete_join(self, group: ClassicGroup, at: Moment) -> GroupOutcome:
        """Start the next generation with those who joined, and tell them."""
        self.deadlines.cancel(ClassicDeadline(DeadlineKind.JOIN, group.group_id))
        for member in list(group.members.values()):
            # A static member may be restarting: it stays until its session runs out (KIP-345).
            if member.join_ticket is None and not member.is_static:
                self.end_session(group, member.member_id)
                group.remove(member.member_id)
        if not group.elect_joined_leader() and group.members:
            # Static members alone, and none of them joined: there is nobody to lead. Their
            # sessions will decide.
            self._wait_for_joins(group, at)
            return Outcome()
        group.next_generation(at.now_ms)
        if group.state is ClassicState.EMPTY:
            return Outcome(records=(group.metadata_record({}, at.now_ms),))
        replies: list[tuple[Ticket, Message]] = []
        for member in group.members.values():
            member.is_new = False
            ticket = group.take_join(member)
            if ticket is not None:
                replies.append((ticket, joined(group, member)))
            self.keep_alive(group, member.member_id, member.session_timeout_ms, at)
        key = ClassicDeadline(DeadlineKind.SYNC, group.group_id)
        self.deadlines.set(key, at.now + group.rebalance_timeout_ms / 1000)
        return Outcome(replies=tuple(replies))

    def sync_arrived(self, group: ClassicGroup, member_id: str) -> None:
        """Note that a member asked for its assignment; the last one ends the waiting."""
        group.pending_syncs.discard(member_id)
        if not group.pending_syncs:
            self.deadlines.cancel(ClassicDeadline(DeadlineKind.SYNC, group.group_id))

    def sync_deadline(self, group: ClassicGroup, at: Moment) -> GroupOutcome:
        """Put out the members that joined but never asked for their assignment (KAFKA-9752)."""
        assert group.pending_syncs, "the deadline goes with the last sync"
        for member_id in sorted(group.pending_syncs):
            self.end_session(group, member_id)
            group.remove(member_id)
        return self.prepare(group, at)

    def forget(self, group: ClassicGroup) -> None:
        """Drop every deadline of a group that goes."""
        for member_id in (*group.members, *group.pending_members):
            self.end_session(group, member_id)
        self.deadlines.cancel(ClassicDeadline(DeadlineKind.JOIN, group.group_id))
        self.deadlines.cancel(ClassicDeadline(DeadlineKind.SYNC, group.group_id))
