"""What members of classic groups are told, in one place for all who tell them."""

from kbroker.groups.classic_group import ClassicGroup
from kbroker.groups.classic_member import ClassicMember
from kbroker.groups.group_records import GroupRecord
from kbroker.machine import Outcome, Ticket
from kbroker.wire import ErrorCode, Message
from kbroker.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from kbroker.wire.messages.sync_group import SyncGroupResponse

GroupOutcome = Outcome[GroupRecord, Message]
"""What a shard wants done: records of groups, and answers of any API."""

# Before this version of JoinGroup a protocol name cannot be null (KIP-559).
_NULL_NAMES_FROM = 7


def reply(ticket: Ticket, message: Message) -> GroupOutcome:
    """Nothing to write, one answer."""
    return Outcome(replies=((ticket, message),))


def joined(
    group: ClassicGroup, member: ClassicMember, *, skip_assignment: bool = False
) -> JoinGroupResponse:
    """The present generation, as ``member`` gets to know it; the leader learns of all members."""
    members = []
    if group.leader_id == member.member_id:
        assert group.protocol_name is not None
        members = [
            JoinGroupResponseMember(
                member_id=each.member_id,
                group_instance_id=each.group_instance_id,
                metadata=each.metadata(group.protocol_name),
            )
            for each in group.members.values()
        ]
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader_id or "",
        skip_assignment=skip_assignment,
        member_id=member.member_id,
        members=members,
    )


def join_refused(error: ErrorCode, member_id: str, version: int) -> JoinGroupResponse:
    """A join that came to nothing; the name of the protocol is null where ``version`` can."""
    return JoinGroupResponse(
        error_code=error,
        member_id=member_id,
        protocol_name=None if version >= _NULL_NAMES_FROM else "",
    )


def synced(group: ClassicGroup, assignment: bytes) -> SyncGroupResponse:
    """An assignment."""
    return SyncGroupResponse(
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        assignment=assignment,
    )


def end_join(
    group: ClassicGroup, member: ClassicMember, refusal: JoinGroupResponse
) -> GroupOutcome:
    """Refuse the join that ``member`` is parked on, if it is parked on one."""
    ticket = group.take_join(member)
    return Outcome() if ticket is None else reply(ticket, refusal)


def end_sync(member: ClassicMember, error: ErrorCode) -> GroupOutcome:
    """Refuse the sync that ``member`` is parked on, if it is parked on one."""
    ticket, member.sync_ticket = member.sync_ticket, None
    if ticket is None:
        return Outcome()
    return reply(ticket, SyncGroupResponse(error_code=error))
