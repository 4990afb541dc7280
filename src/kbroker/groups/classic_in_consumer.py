"""Members of a consumer group that still speak the classic protocol (KIP-848, migration).

A classic member joins, asks for its assignment and sends heartbeats as ever, and
each request is answered at once: the server assigns, so there is no leader and
nobody to wait for. Its generation is its member epoch.

    heartbeat  REBALANCE_IN_PROGRESS when it must join: there is a new target, or one can be
               computed now; it must give up partitions, or the ones it waits for are free
    join       brings what it subscribes to and owns, and one step of reconciliation
    sync       fetches what the join decided

A consumer of the eager kind owns nothing when it joins. A cooperative one reports what
it owns, gives up the rest after its sync, and joins again by itself.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kbroker.groups import migration
from kbroker.groups.classic_answers import join_refused, reply
from kbroker.groups.classic_leave import leaving, left, member_left
from kbroker.groups.classic_member import protocols_of
from kbroker.groups.consumer_heartbeat import (
    check_not_full,
    check_static,
    supported_assignors,
    take_place,
    unknown_member,
)
from kbroker.groups.consumer_leave import fence
from kbroker.groups.consumer_members import ClassicMembership, ConsumerMember, MemberState
from kbroker.groups.consumer_side import ConsumerSide, ParkedJoin, Wait, Waits
from kbroker.groups.embedded_protocol import (
    PROTOCOL_TYPE,
    decode_subscription,
    encode_assignment,
    partitions_of,
    version_of,
)
from kbroker.groups.refused import RefusedError
from kbroker.machine import Outcome
from kbroker.wire import ErrorCode, ProtocolError
from kbroker.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kbroker.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse
from kbroker.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

if TYPE_CHECKING:
    from kbroker.groups.assignors import Partitions
    from kbroker.groups.caller import Caller
    from kbroker.groups.classic_answers import GroupOutcome
    from kbroker.groups.consumer_group import ConsumerGroup
    from kbroker.groups.group_change import GroupChange
    from kbroker.groups.moment import Moment
    from kbroker.machine import Ticket
    from kbroker.wire.messages.consumer_protocol import ConsumerProtocolSubscription
    from kbroker.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity, MemberResponse

# From this version on a client that joins without an id is given one first (KIP-394).
_MEMBER_ID_REQUIRED_FROM = 4


def join(
    side: ConsumerSide,
    group: ConsumerGroup,
    request: JoinGroupRequest,
    caller: Caller,
    ticket: Ticket,
    moment: Moment,
    new_member_id: str,
) -> GroupOutcome:
    """JoinGroup to a consumer group that has members."""
    try:
        _check_join(side, group, request)
        if (
            not request.member_id
            and request.group_instance_id is None
            and caller.api_version >= _MEMBER_ID_REQUIRED_FROM
        ):
            raise RefusedError(ErrorCode.MEMBER_ID_REQUIRED, "Come back with this member id.")
        if _ends_the_consumers(side, group, request):
            return _join_after_downgrade(
                side, group, request, caller, ticket, moment, new_member_id
            )
        return _join(side, group, request, caller, ticket, moment, new_member_id)
    except RefusedError as refused:
        member_id = request.member_id
        if refused.code is ErrorCode.MEMBER_ID_REQUIRED:
            member_id = new_member_id
        return reply(ticket, join_refused(refused.code, member_id, caller.api_version))


def _check_join(side: ConsumerSide, group: ConsumerGroup, request: JoinGroupRequest) -> None:
    settings, timeout_ms = side.settings, request.session_timeout_ms
    if not settings.min_session_timeout_ms <= timeout_ms <= settings.max_session_timeout_ms:
        raise RefusedError(
            ErrorCode.INVALID_SESSION_TIMEOUT, "The session timeout is out of bounds."
        )
    check_not_full(side, group, request.member_id)
    speakers = [member.classic for member in group.members.values() if member.classic is not None]
    common = {protocol.name for protocol in request.protocols}
    for speaker in speakers:
        common &= {name for name, _ in speaker.protocols}
    if request.protocol_type != PROTOCOL_TYPE or not common:
        raise RefusedError(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
            f"Member {request.member_id}'s protocols are not supported.",
        )


def _join(
    side: ConsumerSide,
    group: ConsumerGroup,
    request: JoinGroupRequest,
    caller: Caller,
    ticket: Ticket,
    moment: Moment,
    new_member_id: str,
) -> GroupOutcome:
    subscription = _subscription(request)
    change = side.change(group, moment)
    member = _find_member(group, request, new_member_id, change)
    updated = _updated(member, request, subscription, caller)
    if change.update(member, updated):
        change.refresh(bump=True)
    change.assign(supported_assignors(side)[0])
    moved = change.reconcile(updated, _owned(subscription, side))

    predecessor = group.static_member(request.group_instance_id)
    if predecessor is not None and predecessor.member_id != moved.member_id:
        side.forget_waits(group.group_id, predecessor.member_id)
    side.forget_waits(group.group_id, moved.member_id)
    side.extend_session(group.group_id, moved, moment.now)
    wait = Wait(Waits.SYNC, group.group_id, moved.member_id)
    side.wait(wait, moved.rebalance_timeout_ms, moment.now)
    response = JoinGroupResponse(
        member_id=moved.member_id,
        generation_id=moved.member_epoch,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=request.protocols[0].name,
    )
    return Outcome(tuple(change.records), ((ticket, response),))


def _find_member(
    group: ConsumerGroup, request: JoinGroupRequest, new_member_id: str, change: GroupChange
) -> ConsumerMember:
    """The member that joins, made anew if need be. `RefusedError` if it must not."""
    member_id, instance_id = request.member_id or new_member_id, request.group_instance_id
    if instance_id is None:
        return group.members.get(member_id) or ConsumerMember(member_id)
    static = group.static_member(instance_id)
    if request.member_id:
        return check_static(static, member_id, instance_id)
    if static is None:
        return ConsumerMember(member_id)
    return take_place(static, member_id, change)


def _updated(
    member: ConsumerMember,
    request: JoinGroupRequest,
    subscription: ConsumerProtocolSubscription,
    caller: Caller,
) -> ConsumerMember:
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        # Version 0 of the request knew one timeout for both.
        rebalance_timeout_ms=request.session_timeout_ms if timeout_ms == -1 else timeout_ms,
        server_assignor=None,
        topic_names=frozenset(subscription.topics),
        topic_regex="",
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=ClassicMembership(request.session_timeout_ms, protocols_of(request.protocols)),
    )


def _subscription(request: JoinGroupRequest) -> ConsumerProtocolSubscription:
    try:
        return decode_subscription(request.protocols[0].metadata)
    except ProtocolError as error:
        raise RefusedError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, str(error)) from error


def _owned(subscription: ConsumerProtocolSubscription, side: ConsumerSide) -> Partitions:
    named = ((each.topic, each.partitions) for each in subscription.owned_partitions)
    return partitions_of(named, side.topics)


def _ends_the_consumers(
    side: ConsumerSide, group: ConsumerGroup, request: JoinGroupRequest
) -> bool:
    """Whether a classic process takes the place of the last member of the new protocol."""
    static = group.static_member(request.group_instance_id)
    return (
        static is not None
        and not request.member_id
        and static.classic is None
        and migration.can_downgrade(side, group, {static.member_id})
    )


def _join_after_downgrade(
    side: ConsumerSide,
    group: ConsumerGroup,
    request: JoinGroupRequest,
    caller: Caller,
    ticket: Ticket,
    moment: Moment,
    new_member_id: str,
) -> GroupOutcome:
    """Make the group a classic one, and join there once the records are replayed."""
    static = group.static_member(request.group_instance_id)
    assert static is not None
    side.forget_waits(group.group_id, static.member_id)
    parked = ParkedJoin(request, caller, ticket, new_member_id)
    side.parked_joins.setdefault(group.group_id, []).append(parked)
    side.wait(Wait(Waits.DOWNGRADED, group.group_id), 0, moment.now)
    return migration.downgrade(side, group, {static.member_id}, moment)


def sync(
    side: ConsumerSide,
    group: ConsumerGroup,
    request: SyncGroupRequest,
    ticket: Ticket,
    moment: Moment,
) -> GroupOutcome:
    """SyncGroup: what the last join of a member gave it."""
    try:
        member, classic = _classic(group, request.member_id, request.group_instance_id)
        _check_generation(member, request.generation_id)
        name, metadata = classic.protocols[0]
        if request.protocol_type not in (None, PROTOCOL_TYPE) or request.protocol_name not in (
            None,
            name,
        ):
            raise RefusedError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "Not what the join was told.")
        if (
            group.assignment_epoch > member.member_epoch
            and member.state is not MemberState.UNREVOKED_PARTITIONS
        ):
            _expect_join(side, group, member, moment)
            raise RefusedError(ErrorCode.REBALANCE_IN_PROGRESS, "The member should rejoin.")
    except RefusedError as refused:
        return reply(ticket, SyncGroupResponse(error_code=refused.code))
    side.deadlines.cancel(Wait(Waits.SYNC, group.group_id, member.member_id))
    side.extend_session(group.group_id, member, moment.now)
    response = SyncGroupResponse(
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=encode_assignment(member.assigned, side.topics, version_of(metadata)),
    )
    return reply(ticket, response)


def heartbeat(
    side: ConsumerSide,
    group: ConsumerGroup,
    request: HeartbeatRequest,
    ticket: Ticket,
    moment: Moment,
) -> GroupOutcome:
    """Heartbeat of a classic member."""
    try:
        member, _ = _classic(group, request.member_id, request.group_instance_id)
        _check_generation(member, request.generation_id)
    except RefusedError as refused:
        return reply(ticket, HeartbeatResponse(error_code=refused.code))
    side.extend_session(group.group_id, member, moment.now)
    error = ErrorCode.NONE
    interval_ms = side.assignment_interval_ms(group.group_id)
    if group.needs_target(moment.now_ms, interval_ms) or _must_join(group, member):
        _expect_join(side, group, member, moment)
        error = ErrorCode.REBALANCE_IN_PROGRESS
    return reply(ticket, HeartbeatResponse(error_code=error))


def leave(
    side: ConsumerSide,
    group: ConsumerGroup,
    request: LeaveGroupRequest,
    caller: Caller,
    ticket: Ticket,
    moment: Moment,
) -> GroupOutcome:
    """LeaveGroup of classic members; those of the new protocol leave by their heartbeat."""
    results: list[MemberResponse] = []
    gone: dict[str, ConsumerMember] = {}
    for identity in leaving(request, caller.api_version):
        try:
            member = _leaving(group, identity)
        except RefusedError as refused:
            results.append(member_left(identity, refused.code))
        else:
            gone[member.member_id] = member
            result = member_left(identity, ErrorCode.NONE)
            result.member_id = member.member_id
            results.append(result)
    outcome: GroupOutcome = Outcome()
    if gone:
        outcome = fence(side, group, list(gone.values()), moment)
    return outcome + reply(ticket, left(results, caller.api_version))


def _leaving(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    if identity.group_instance_id is not None and not identity.member_id:
        # An administrator removes a static member without knowing its member id.
        static = group.static_member(identity.group_instance_id)
        known_id = static.member_id if static is not None else ""
        return _classic(group, known_id, identity.group_instance_id)[0]
    return _classic(group, identity.member_id, identity.group_instance_id)[0]


def _classic(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> tuple[ConsumerMember, ClassicMembership]:
    """The classic member that asks. `RefusedError` if there is none, or it is another's (G5)."""
    if instance_id is not None:
        member = check_static(group.static_member(instance_id), member_id, instance_id)
    elif member_id in group.members:
        member = group.members[member_id]
    else:
        raise unknown_member(group, member_id)
    if member.classic is None:
        raise RefusedError(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} does not use the classic protocol."
        )
    return member, member.classic


def _check_generation(member: ConsumerMember, generation: int) -> None:
    if generation != member.member_epoch:
        raise RefusedError(
            ErrorCode.ILLEGAL_GENERATION,
            f"The request generation id {generation} is not equal to the member epoch "
            f"{member.member_epoch} of member {member.member_id}.",
        )


def _must_join(group: ConsumerGroup, member: ConsumerMember) -> bool:
    if member.member_epoch < group.assignment_epoch:
        return True
    if member.state is MemberState.UNRELEASED_PARTITIONS:
        return not group.waits_for_others(member)
    return member.state is MemberState.UNREVOKED_PARTITIONS


def _expect_join(
    side: ConsumerSide, group: ConsumerGroup, member: ConsumerMember, moment: Moment
) -> None:
    """Give the member its rebalance timeout to join, counted from the first time it was told."""
    wait = Wait(Waits.JOIN, group.group_id, member.member_id)
    if wait not in side.deadlines:
        side.wait(wait, member.rebalance_timeout_ms, moment.now)
