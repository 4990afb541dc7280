"""One member of a classic group: who it is, what it can do, and what it waits for."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from kbroker.machine import Ticket
from kbroker.wire.messages.describe_groups import DescribedGroupMember
from kbroker.wire.messages.group_metadata_record import MemberMetadata
from kbroker.wire.messages.join_group import JoinGroupRequestProtocol


@dataclass(slots=True)
class ClassicMember:
    """A member, with the join or sync it is parked on.

    A member waits for at most one answer of each kind. While it waits it needs no
    heartbeats (it cannot send any), unless it is new: nobody knows yet whether a
    new member is still there, so its session runs from its first join (G7).
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]
    """What it can speak, the most wanted first: the name and the metadata of each protocol."""
    assignment: bytes = b""
    is_new: bool = False
    join_ticket: Ticket | None = field(default=None, compare=False)
    join_version: int = field(default=0, compare=False)
    """The version of the JoinGroup behind ``join_ticket``: old answers have no null names."""
    sync_ticket: Ticket | None = field(default=None, compare=False)

    @property
    def is_static(self) -> bool:
        """Whether it carries an instance id (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def is_excused(self) -> bool:
        """Whether it may stay silent although its session ran out: it waits for us."""
        return not self.is_new and (self.join_ticket is not None or self.sync_ticket is not None)

    def metadata(self, protocol_name: str) -> bytes:
        """What it said for one protocol, which must be one of its own."""
        return next(metadata for name, metadata in self.protocols if name == protocol_name)

    def vote(self, candidates: Collection[str]) -> str:
        """The candidate it likes best; it must support one of them."""
        return next(name for name, _ in self.protocols if name in candidates)

    def described(self, protocol_name: str | None) -> DescribedGroupMember:
        """The member as DescribeGroups shows it, with its metadata if the group has a protocol."""
        return DescribedGroupMember(
            member_id=self.member_id,
            group_instance_id=self.group_instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            member_metadata=b"" if protocol_name is None else self.metadata(protocol_name),
            member_assignment=self.assignment,
        )

    def recorded(self, protocol_name: str, assignment: bytes) -> MemberMetadata:
        """The member as it is written to the log."""
        return MemberMetadata(
            member_id=self.member_id,
            group_instance_id=self.group_instance_id,
            client_id=self.client_id,
            client_host=self.client_host,
            rebalance_timeout=self.rebalance_timeout_ms,
            session_timeout=self.session_timeout_ms,
            subscription=self.metadata(protocol_name),
            assignment=assignment,
        )


def member_from_record(recorded: MemberMetadata, protocol_name: str) -> ClassicMember:
    """The member that was written to the log; all it can speak now is what the group spoke."""
    rebalance_timeout_ms = recorded.rebalance_timeout
    if rebalance_timeout_ms == -1:  # version 0 of the record knew one timeout for both
        rebalance_timeout_ms = recorded.session_timeout
    return ClassicMember(
        member_id=recorded.member_id,
        group_instance_id=recorded.group_instance_id,
        client_id=recorded.client_id,
        client_host=recorded.client_host,
        rebalance_timeout_ms=rebalance_timeout_ms,
        session_timeout_ms=recorded.session_timeout,
        protocols=((protocol_name, bytes(recorded.subscription)),),
        assignment=bytes(recorded.assignment),
    )


def protocols_of(
    protocols: Iterable[JoinGroupRequestProtocol],
) -> tuple[tuple[str, bytes], ...]:
    """The protocols of a JoinGroup request as members keep them: copied, and never changed."""
    return tuple((protocol.name, bytes(protocol.metadata)) for protocol in protocols)
