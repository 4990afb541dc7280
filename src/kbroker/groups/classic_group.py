"""A classic group: its state, its members, its generation.

This is the data and the moves that keep it coherent. When to move is decided in
classic_rebalance, classic_join, classic_sync and classic_leave; nothing here knows
deadlines, tickets are stored but answered elsewhere.

What survives a failover is what `metadata_record` writes: the generation, its protocol
and leader, and each member with its assignment. It is written when a generation gets its
assignment, when a static member gets a new id, and when the group becomes empty; a
rebalance that is under way is lost with its coordinator, and the members start it again.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from enum import Enum

from kbroker.groups.classic_member import ClassicMember, member_from_record
from kbroker.groups.group_records import GROUP_METADATA_VERSION, GroupRecord
from kbroker.machine import Ticket, Transitions
from kbroker.wire import ErrorCode, ProtocolError
from kbroker.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from kbroker.wire.messages.group_metadata_record import GroupMetadataKey, GroupMetadataValue

# The protocol type of groups whose metadata the broker understands: subscriptions.
CONSUMER_PROTOCOL_TYPE = "consumer"


class ClassicState(Enum):
    """Where a classic group stands; the values are the names Kafka shows."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


_MOVES = Transitions(
    {
        ClassicState.EMPTY: {ClassicState.PREPARING_REBALANCE, ClassicState.DEAD},
        ClassicState.PREPARING_REBALANCE: {
            ClassicState.COMPLETING_REBALANCE,
            ClassicState.EMPTY,
            ClassicState.DEAD,
        },
        ClassicState.COMPLETING_REBALANCE: {
            ClassicState.STABLE,
            ClassicState.PREPARING_REBALANCE,
            ClassicState.DEAD,
        },
        ClassicState.STABLE: {ClassicState.PREPARING_REBALANCE, ClassicState.DEAD},
        ClassicState.DEAD: set(),
    }
)


class ClassicGroup:
    """The members of a group, and how far they are on the way to the next generation.

    state                 members                                   leaves it when
    --------------------  ----------------------------------------  --------------------------
    Empty                 none (perhaps pending ones, offsets)      somebody joins
    PreparingRebalance    join, or are waited for                   all joined, or time is up
    CompletingRebalance   know their generation, wait for the       the leader sent it, or
                          leader's assignment                       somebody joins or goes
    Stable                know their assignment                     somebody joins or goes
    Dead                  the group was deleted
    """

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.state = ClassicState.EMPTY
        self.generation = 0
        self.protocol_type: str | None = None
        """None: a simple group, which has no members and exists for its offsets alone."""
        self.protocol_name: str | None = None
        self.leader_id: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.pending_members: set[str] = set()
        """Ids that were handed out and did not join yet (KIP-394)."""
        self.pending_syncs: set[str] = set()
        """Members of this generation that did not ask for their assignment yet."""
        self.subscribed_topics: frozenset[str] | None = None
        """What consumers subscribe to; None if it is not known."""
        self.state_since_ms: int | None = None
        """When the group came to its state; old records do not tell."""
        self.initial_delay: tuple[int, int] | None = None
        """While a group that was empty gathers members: this delay, and how much may follow."""
        self.member_added = False
        """Whether somebody came during the initial delay, which is then extended."""
        self._static_ids: dict[str, str] = {}
        self._speakers: Counter[str] = Counter()  # how many members can speak each protocol
        self._joined = 0  # how many members are parked on a join

    # --- questions ---------------------------------------------------------------

    @property
    def joined_count(self) -> int:
        """How many members wait for the next generation."""
        return self._joined

    @property
    def all_joined(self) -> bool:
        """Whether nobody is missing any more, not even a member that only has an id yet."""
        return self._joined == len(self.members) and not self.pending_members

    @property
    def can_rebalance(self) -> bool:
        """Whether a rebalance can be started: one that is being prepared already cannot."""
        return _MOVES.allows(self.state, ClassicState.PREPARING_REBALANCE)

    @property
    def rebalance_timeout_ms(self) -> int:
        """How long the slowest member wants to be waited for."""
        return max((m.rebalance_timeout_ms for m in self.members.values()), default=0)

    @property
    def uses_consumer_protocol(self) -> bool:
        """Whether its members are consumers, rather than Connect workers or registries."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def static_member_id(self, group_instance_id: str) -> str | None:
        """The id of the member with this instance id, or None."""
        return self._static_ids.get(group_instance_id)

    def check_member(self, member_id: str, group_instance_id: str | None) -> ErrorCode:
        """Whether the sender is who the group thinks it is (G5)."""
        if group_instance_id is not None:
            known = self._static_ids.get(group_instance_id)
            if known is not None and known != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
            if known is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def supports(self, protocol_type: str, names: Collection[str]) -> bool:
        """Whether somebody who speaks this can be a member."""
        if self.state is ClassicState.EMPTY:
            return bool(protocol_type and names)
        size = len(self.members)
        return self.protocol_type == protocol_type and any(
            self._speakers[name] == size for name in names
        )

    def select_protocol(self) -> str:
        """What most members like best, among what all of them can speak."""
        size = len(self.members)
        candidates = {name for name, count in self._speakers.items() if count == size}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    def is_subscribed(self, topic: str) -> bool:
        """Whether offsets of ``topic`` are in use; consumers nobody understands might use any."""
        if self.subscribed_topics is None:
            return self.uses_consumer_protocol
        return topic in self.subscribed_topics

    # --- members -----------------------------------------------------------------

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        """Let in a member that the group supports; the first one becomes the leader."""
        assert member.member_id not in self.members
        if not self.members:
            self.protocol_type = protocol_type
        if member.group_instance_id is not None:
            assert member.group_instance_id not in self._static_ids
            self._static_ids[member.group_instance_id] = member.member_id
        if self.leader_id is None:
            self.leader_id = member.member_id
        self.members[member.member_id] = member
        self._count(member, 1)
        self.pending_members.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Forget a member or a pending one; whoever parked on it must be answered before."""
        self.pending_members.discard(member_id)
        self.pending_syncs.discard(member_id)
        member = self.members.pop(member_id, None)
        if member is None:
            return
        assert member.join_ticket is None, "a parked join is answered before its member goes"
        self._count(member, -1)
        if member.group_instance_id is not None:
            del self._static_ids[member.group_instance_id]
        if self.leader_id == member_id:
            self.leader_id = next(iter(self.members), None)

    def change(
        self,
        member: ClassicMember,
        *,
        protocols: tuple[tuple[str, bytes], ...],
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
    ) -> None:
        """Take over what a member says about itself when it joins again."""
        self._count(member, -1)
        member.protocols = protocols
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms
        self._count(member, 1)

    def park_join(self, member: ClassicMember, ticket: Ticket, version: int) -> Ticket | None:
        """Let ``member`` wait for the next generation; the ticket it waited on before."""
        earlier = self.take_join(member)
        member.join_ticket, member.join_version = ticket, version
        self._joined += 1
        return earlier

    def take_join(self, member: ClassicMember) -> Ticket | None:
        """Take away the ticket of a parked join, which the caller answers; None if none is."""
        ticket, member.join_ticket = member.join_ticket, None
        if ticket is not None:
            self._joined -= 1
        return ticket

    def rename(self, member: ClassicMember, new_id: str) -> None:
        """Give a static member a new id: it came back as a new process (KIP-345)."""
        assert member.group_instance_id is not None
        old_id = member.member_id
        del self.members[old_id]
        member.member_id = new_id
        self.members[new_id] = member
        self._static_ids[member.group_instance_id] = new_id
        if self.leader_id == old_id:
            self.leader_id = new_id
        if old_id in self.pending_syncs:
            self.pending_syncs.remove(old_id)
            self.pending_syncs.add(new_id)

    def _count(self, member: ClassicMember, step: int) -> None:
        # A request may name a protocol twice; it still is one member that speaks it.
        for name in {name for name, _ in member.protocols}:
            self._speakers[name] += step

    # --- generations -------------------------------------------------------------

    def move(self, state: ClassicState, now_ms: int | None) -> None:
        """Come to another state, at a moment that counts for how long offsets are kept."""
        self.state = _MOVES.move(self.state, state)
        self.state_since_ms = now_ms

    def elect_joined_leader(self) -> bool:
        """Make sure that the leader is one of those who joined; False if nobody did."""
        leader = None if self.leader_id is None else self.members[self.leader_id]
        if leader is not None and leader.join_ticket is not None:
            return True
        for member in self.members.values():
            if member.join_ticket is not None:
                self.leader_id = member.member_id
                return True
        return False

    def next_generation(self, now_ms: int) -> None:
        """Start the generation of those who are members now; without any, become empty."""
        self.generation += 1
        self.initial_delay = None
        self.member_added = False
        self.protocol_name = self.select_protocol() if self.members else None
        self.subscribed_topics = self._subscriptions()
        self.pending_syncs = set(self.members)
        self.move(ClassicState.COMPLETING_REBALANCE if self.members else ClassicState.EMPTY, now_ms)

    def assign(self, assignments: Mapping[str, bytes]) -> None:
        """Give each member what the leader wants it to have; nothing if it was forgotten."""
        for member in self.members.values():
            member.assignment = assignments.get(member.member_id, b"")

    def _subscriptions(self) -> frozenset[str] | None:
        if not self.uses_consumer_protocol:
            return None
        if self.protocol_name is None:
            return frozenset()
        return subscribed_topics(m.metadata(self.protocol_name) for m in self.members.values())

    # --- what is durable ---------------------------------------------------------

    def metadata_record(self, assignments: Mapping[str, bytes], now_ms: int) -> GroupRecord:
        """The record of this generation, with assignments that its replay will hand out."""
        members = []
        if self.protocol_name is not None:
            members = [
                member.recorded(self.protocol_name, assignments.get(member.member_id, b""))
                for member in self.members.values()
            ]
        value = GroupMetadataValue(
            protocol_type=self.protocol_type or "",
            generation=self.generation,
            protocol=self.protocol_name,
            leader=self.leader_id if members else None,
            current_state_timestamp=now_ms,
            members=members,
        )
        return GroupRecord(GroupMetadataKey(group=self.group_id), value, GROUP_METADATA_VERSION)

    def written(self, value: GroupMetadataValue) -> None:
        """Take over what this group itself wrote to the log.

        Its members and their parked requests know more than the record does, so
        only what waited for the write changes: the assignments, and with them the state.
        """
        assert value.generation == self.generation, "nothing happens between write and replay"
        self.assign({member.member_id: bytes(member.assignment) for member in value.members})
        if self.state is ClassicState.COMPLETING_REBALANCE:
            self.move(ClassicState.STABLE, value.current_state_timestamp)


def group_from_record(group_id: str, value: GroupMetadataValue) -> ClassicGroup:
    """The group as it stands in the log: stable, or empty if it has no members."""
    group = ClassicGroup(group_id)
    group.generation = value.generation
    group.protocol_type = value.protocol_type or None
    group.protocol_name = value.protocol
    if value.current_state_timestamp != -1:
        group.state_since_ms = value.current_state_timestamp
    for recorded in value.members:
        group.add(member_from_record(recorded, value.protocol or ""), value.protocol_type)
    if group.members:
        group.state = ClassicState.STABLE  # not a move: the group is only now made
    if value.leader in group.members:  # else the first member leads, if there is one
        group.leader_id = value.leader
    group.subscribed_topics = group._subscriptions()
    return group


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """The topics of consumers' metadata, or None if one of them cannot be read.

    Every version of the metadata starts like version 0, and the rest is not looked at.
    """
    topics: set[str] = set()
    for subscription in subscriptions:
        try:
            # Two bytes of version come first.
            topics.update(ConsumerProtocolSubscription.decode(subscription, 0, 2).topics)
        except ProtocolError:
            return None
    return frozenset(topics)
