"""JoinGroup to a classic group: who may come in, and what their coming causes.

who joins                    Empty, Preparing     Completing            Stable
---------------------------  -------------------  --------------------  -------------------------
a new dynamic member, v4+    gets an id and must come back with it (KIP-394), in every state
a new member otherwise       is added; everybody rebalances
a new process of a known     parked               everybody rebalances  told the generation; if the
static member (KIP-345)                                                 protocol changes, everybody
                                                                        rebalances
a member, nothing changed    parked               told the generation   told the generation; if it
                                                                        leads, everybody rebalances
a member, other metadata     parked               everybody rebalances  everybody rebalances
a member nobody knows        UNKNOWN_MEMBER_ID; FENCED_INSTANCE_ID if another has its instance id
"""

from dataclasses import dataclass

from kbroker.groups.caller import Caller
from kbroker.groups.classic_answers import (
    GroupOutcome,
    end_join,
    end_sync,
    join_refused,
    joined,
    reply,
)
from kbroker.groups.classic_group import ClassicGroup, ClassicState
from kbroker.groups.classic_member import ClassicMember, protocols_of
from kbroker.groups.classic_rebalance import NEW_MEMBER_JOIN_TIMEOUT_MS, ClassicRebalance
from kbroker.groups.moment import Moment
from kbroker.machine import Outcome, Ticket
from kbroker.wire import ErrorCode
from kbroker.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse

# From this version on a client that joins without an id is given one first (KIP-394).
_MEMBER_ID_REQUIRED_FROM = 4
# From this version on a leader can be told not to compute an assignment (KIP-814).
_SKIP_ASSIGNMENT_FROM = 9


@dataclass(frozen=True, slots=True)
class ClassicJoin:
    """One JoinGroup request on its way into one group."""

    rebalance: ClassicRebalance
    group: ClassicGroup
    request: JoinGroupRequest
    caller: Caller
    ticket: Ticket
    at: Moment

    def decide(self, new_member_id: str) -> GroupOutcome:
        """Let the sender in, park it, or refuse it."""
        group, member_id = self.group, self.request.member_id
        if not self._has_room():
            return self._no_room()
        names = [protocol.name for protocol in self.request.protocols]
        if not group.supports(self.request.protocol_type, names):
            return self._refuse(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, member_id)
        if member_id:
            return self._known(member_id)
        if self.request.group_instance_id is not None:
            return self._static(self.request.group_instance_id, new_member_id)
        if self.caller.api_version >= _MEMBER_ID_REQUIRED_FROM:
            return self._hand_out(new_member_id)
        return self._add(new_member_id)

    # --- newcomers ---------------------------------------------------------------

    def _hand_out(self, new_member_id: str) -> GroupOutcome:
        self.group.pending_members.add(new_member_id)
        # An id that is never used must not hold up the group (G7).
        self.rebalance.keep_alive(
            self.group, new_member_id, self.request.session_timeout_ms, self.at
        )
        return self._refuse(ErrorCode.MEMBER_ID_REQUIRED, new_member_id)

    def _add(self, member_id: str) -> GroupOutcome:
        group = self.group
        if group.initial_delay is not None:
            group.member_added = True
        member = ClassicMember(
            member_id=member_id,
            group_instance_id=self.request.group_instance_id,
            client_id=self.caller.client_id,
            client_host=self.caller.client_host,
            rebalance_timeout_ms=self._rebalance_timeout_ms(),
            session_timeout_ms=self.request.session_timeout_ms,
            protocols=protocols_of(self.request.protocols),
            is_new=True,
        )
        group.add(member, self.request.protocol_type)
        self._park(member)
        self.rebalance.keep_alive(group, member_id, NEW_MEMBER_JOIN_TIMEOUT_MS, self.at)
        return self.rebalance.prepare_or_complete(group, self.at)

    # --- static members ----------------------------------------------------------

    def _static(self, group_instance_id: str, new_member_id: str) -> GroupOutcome:
        old_id = self.group.static_member_id(group_instance_id)
        if old_id is None:
            return self._add(new_member_id)
        return self._replace(self.group.members[old_id], new_member_id)

    def _replace(self, member: ClassicMember, new_id: str) -> GroupOutcome:
        """Give the place of a static member to its new process, in whatever state (G6)."""
        group = self.group
        old_id, old_leader = member.member_id, group.leader_id or ""
        error = ErrorCode.FENCED_INSTANCE_ID
        fenced = end_join(group, member, join_refused(error, old_id, member.join_version))
        fenced += end_sync(member, error)
        self.rebalance.end_session(group, old_id)
        group.rename(member, new_id)
        self._update(member)
        self.rebalance.keep_alive(group, new_id, member.session_timeout_ms, self.at)
        if group.state is ClassicState.STABLE and group.select_protocol() == group.protocol_name:
            return fenced + self._keep_generation(member, old_leader)
        self._park(member)
        # In CompletingRebalance the leader may be assigning to the old id this very moment, so
        # the generation cannot be kept.
        return fenced + self.rebalance.prepare_or_complete(group, self.at)

    def _keep_generation(self, member: ClassicMember, old_leader: str) -> GroupOutcome:
        """Answer with the generation that is; the new id is written before the answer leaves."""
        group = self.group
        assignments = {each.member_id: each.assignment for each in group.members.values()}
        record = group.metadata_record(assignments, self.at.now_ms)
        answer: JoinGroupResponse
        if self.caller.api_version >= _SKIP_ASSIGNMENT_FROM:
            answer = joined(group, member, skip_assignment=group.leader_id == member.member_id)
        else:
            # An old client that finds itself leading would assign, although nobody asks for
            # it. So it is told of the leader that was, even if that is its own old id.
            answer = joined(group, member)
            answer.leader, answer.members = old_leader, []
        return Outcome(records=(record,), replies=((self.ticket, answer),))

    # --- members that come again ---------------------------------------------------

    def _known(self, member_id: str) -> GroupOutcome:
        group, instance_id = self.group, self.request.group_instance_id
        if member_id in group.pending_members and instance_id is None:
            return self._add(member_id)
        error = group.check_member(member_id, instance_id)
        if error is not ErrorCode.NONE:
            refusal = join_refused(error, member_id, self.caller.api_version)
            return reply(self.ticket, refusal)
        member = group.members[member_id]
        changed = member.protocols != protocols_of(self.request.protocols)
        leads = group.leader_id == member_id
        # The leader joins again when something changed that only it can see, such as the
        # number of partitions; others may just have lost an answer.
        if (group.state is ClassicState.COMPLETING_REBALANCE and not changed) or (
            group.state is ClassicState.STABLE and not changed and not leads
        ):
            return reply(self.ticket, joined(group, member))
        self._update(member)
        return self._park(member) + self.rebalance.prepare_or_complete(group, self.at)

    # --- steps ---------------------------------------------------------------------

    def _update(self, member: ClassicMember) -> None:
        self.group.change(
            member,
            protocols=protocols_of(self.request.protocols),
            rebalance_timeout_ms=self._rebalance_timeout_ms(),
            session_timeout_ms=self.request.session_timeout_ms,
        )

    def _park(self, member: ClassicMember) -> GroupOutcome:
        """Let the member wait; a join it sent before, on a lost connection perhaps, ends here."""
        version = member.join_version
        earlier = self.group.park_join(member, self.ticket, self.caller.api_version)
        if earlier is None:
            return Outcome()
        error = ErrorCode.REBALANCE_IN_PROGRESS
        return reply(earlier, join_refused(error, member.member_id, version))

    def _rebalance_timeout_ms(self) -> int:
        # Version 0 knew one timeout for both.
        if self.caller.api_version == 0:
            return self.request.session_timeout_ms
        return self.request.rebalance_timeout_ms

    def _has_room(self) -> bool:
        group, max_size = self.group, self.rebalance.settings.max_size
        if group.state is ClassicState.EMPTY:
            return True
        member = group.members.get(self.request.member_id)
        if group.state is ClassicState.PREPARING_REBALANCE:
            # Those who joined count, not those who are members: if the limit was lowered, the
            # last ones to come are turned away.
            waits = member is not None and member.join_ticket is not None
            return waits or group.joined_count < max_size
        return member is not None or len(group.members) < max_size

    def _no_room(self) -> GroupOutcome:
        group, member_id = self.group, self.request.member_id
        self.rebalance.end_session(group, member_id)
        group.remove(member_id)
        refused = self._refuse(ErrorCode.GROUP_MAX_SIZE_REACHED, "")
        return refused + self.rebalance.try_complete(group, self.at)

    def _refuse(self, error: ErrorCode, member_id: str) -> GroupOutcome:
        return reply(self.ticket, join_refused(error, member_id, self.caller.api_version))
