"""ConsumerGroupHeartbeat: joining, staying and leaving, all in one request (KIP-848).

A heartbeat says what changed for the member, and what it still owns. It is
answered at once with what the member shall own; nobody waits inside the broker.
Whatever follows from it for the group (a new epoch, a new target assignment)
happens within the same request.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kbroker.groups import consumer_records, migration
from kbroker.groups.assignors import ASSIGNORS
from kbroker.groups.consumer_leave import fence
from kbroker.groups.consumer_members import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    LEAVE_STATIC_EPOCH,
    ConsumerMember,
    MemberState,
    by_topic,
)
from kbroker.groups.consumer_side import ConsumerSide, Wait, Waits
from kbroker.groups.heartbeat_checks import check_member_epoch, check_request
from kbroker.groups.refused import RefusedError
from kbroker.machine import Outcome
from kbroker.wire import ErrorCode
from kbroker.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)

if TYPE_CHECKING:
    from kbroker.groups.assignors import Partitions
    from kbroker.groups.caller import Caller
    from kbroker.groups.classic_answers import GroupOutcome
    from kbroker.groups.consumer_group import ConsumerGroup
    from kbroker.groups.group_change import GroupChange
    from kbroker.groups.moment import Moment
    from kbroker.machine import Ticket


def heartbeat(
    side: ConsumerSide,
    request: ConsumerGroupHeartbeatRequest,
    caller: Caller,
    ticket: Ticket,
    moment: Moment,
    new_member_id: str,
) -> GroupOutcome:
    """Answer one heartbeat; ``new_member_id`` is for members of version 0 that have none yet."""
    try:
        check_request(request, caller.api_version, supported_assignors(side))
        if request.member_epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH):
            return _leave(side, request, ticket, moment)
        return _stay(side, request, caller, ticket, moment, request.member_id or new_member_id)
    except RefusedError as refused:
        response = ConsumerGroupHeartbeatResponse(
            error_code=refused.code, error_message=refused.message
        )
        return Outcome(replies=((ticket, response),))


def supported_assignors(side: ConsumerSide) -> list[str]:
    """The assignors of group.consumer.assignors that exist; the first is the default."""
    return [name for name in side.settings.consumer_assignors if name in ASSIGNORS]


def check_not_full(side: ConsumerSide, group: ConsumerGroup, member_id: str) -> None:
    """`RefusedError` if there is no place for another member."""
    largest = side.settings.consumer_max_size
    if len(group.members) >= largest and member_id not in group.members:
        raise RefusedError(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {largest} members.",
        )


def _stay(
    side: ConsumerSide,
    request: ConsumerGroupHeartbeatRequest,
    caller: Caller,
    ticket: Ticket,
    moment: Moment,
    member_id: str,
) -> GroupOutcome:
    joins = request.member_epoch == JOIN_EPOCH
    group, upgrade = migration.consumer_group(side, request.group_id, create=joins)
    check_not_full(side, group, member_id)
    owned = _owned(request)
    change = side.change(group, moment)
    member = _find_member(group, request, member_id, owned, change)

    updated = _updated(member, request, caller)
    is_new_group = group.group_epoch == 0
    if change.update(member, updated) or is_new_group:
        change.refresh(bump=True)
    change.assign(supported_assignors(side)[0])
    moved = change.reconcile(updated, owned)

    begun: GroupOutcome = Outcome()
    if upgrade is not None:
        begun = upgrade.begin(side, moment)
    _forget_past(side, group, request.instance_id, member_id)
    side.extend_session(group.group_id, moved, moment.now)
    _watch_revocation(side, group, updated, moved, moment)

    response = ConsumerGroupHeartbeatResponse(
        member_id=member_id,
        member_epoch=moved.member_epoch,
        heartbeat_interval_ms=side.heartbeat_interval_ms(group.group_id),
    )
    if joins or _is_full(request) or moved.assigned.keys() != member.assigned.keys():
        response.assignment = _assignment(frozenset(moved.assigned))
    return begun + Outcome(tuple(change.records), ((ticket, response),))


def _forget_past(
    side: ConsumerSide, group: ConsumerGroup, instance_id: str | None, member_id: str
) -> None:
    """Expect nothing more of a member that was classic, nor of the static member before it."""
    for about in (Waits.JOIN, Waits.SYNC):
        side.deadlines.cancel(Wait(about, group.group_id, member_id))
    predecessor = group.static_member(instance_id)
    if predecessor is not None and predecessor.member_id != member_id:
        side.forget_waits(group.group_id, predecessor.member_id)


def _find_member(
    group: ConsumerGroup,
    request: ConsumerGroupHeartbeatRequest,
    member_id: str,
    owned: Partitions | None,
    change: GroupChange,
) -> ConsumerMember:
    """The member that sends the request, made anew if it joins. `RefusedError` if it is not one."""
    joins = request.member_epoch == JOIN_EPOCH
    if request.instance_id is None:
        member = group.members.get(member_id)
        if member is None:
            if joins:
                return ConsumerMember(member_id)
            raise unknown_member(group, member_id)
        check_member_epoch(member, request.member_epoch, owned)
        return member
    static = group.static_member(request.instance_id)
    if not joins:
        static = check_static(static, member_id, request.instance_id)
        check_member_epoch(static, request.member_epoch, owned)
        return static
    if static is None:
        return ConsumerMember(member_id)
    if static.member_id == member_id:
        return static
    if static.classic is None and static.member_epoch != LEAVE_STATIC_EPOCH:
        raise RefusedError(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {member_id} with instance id {request.instance_id} cannot join the "
            f"group because the instance id is owned by {static.member_id} member.",
        )
    return take_place(static, member_id, change)


def take_place(static: ConsumerMember, member_id: str, change: GroupChange) -> ConsumerMember:
    """Let a static member go on under a new member id."""
    successor = replace(static, member_id=member_id, member_epoch=0, previous_member_epoch=0)
    change.replace(static, successor)
    return successor


def check_static(static: ConsumerMember | None, member_id: str, instance_id: str) -> ConsumerMember:
    """The static member, which must be the one that asks (G5)."""
    if static is None:
        raise RefusedError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if static.member_id != member_id:
        raise RefusedError(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {member_id} with instance id {instance_id} was fenced by member "
            f"{static.member_id}.",
        )
    return static


def unknown_member(group: ConsumerGroup, member_id: str) -> RefusedError:
    """What somebody is told who is no member."""
    return RefusedError(
        ErrorCode.UNKNOWN_MEMBER_ID,
        f"Member {member_id} is not a member of group {group.group_id}.",
    )


def _updated(
    member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, caller: Caller
) -> ConsumerMember:
    """The member with what the request says about it; null means "as before"."""
    names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
    timeout_ms, assignor = request.rebalance_timeout_ms, request.server_assignor
    return replace(
        member,
        instance_id=request.instance_id or member.instance_id,
        rack_id=request.rack_id or member.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        server_assignor=member.server_assignor if assignor is None else assignor,
        topic_names=member.topic_names if names is None else frozenset(names),
        topic_regex=member.topic_regex if regex is None else regex,
        client_id=caller.client_id,
        client_host=caller.client_host,
        classic=None,
    )


def _owned(request: ConsumerGroupHeartbeatRequest) -> Partitions | None:
    if request.topic_partitions is None:
        return None
    return frozenset(
        (topic.topic_id, partition)
        for topic in request.topic_partitions
        for partition in topic.partitions
    )


def _is_full(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the member tells everything, as it does when it is unsure what we know."""
    subscribes = (
        request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    )
    return (
        request.rebalance_timeout_ms != -1 and subscribes and request.topic_partitions is not None
    )


def _assignment(partitions: Partitions) -> Assignment:
    return Assignment(
        topic_partitions=[
            ResponseTopicPartitions(topic_id=topic_id, partitions=numbers)
            for topic_id, numbers in by_topic(partitions).items()
        ]
    )


def _watch_revocation(
    side: ConsumerSide,
    group: ConsumerGroup,
    before: ConsumerMember,
    after: ConsumerMember,
    moment: Moment,
) -> None:
    """Give a member its rebalance timeout to let go of partitions (G10), from the order on."""
    wait = Wait(Waits.REBALANCE, group.group_id, after.member_id)
    if after.state is not MemberState.UNREVOKED_PARTITIONS:
        side.deadlines.cancel(wait)
    elif after != before:
        side.wait(wait, after.rebalance_timeout_ms, moment.now)


def _leave(
    side: ConsumerSide, request: ConsumerGroupHeartbeatRequest, ticket: Ticket, moment: Moment
) -> GroupOutcome:
    group = side.group(request.group_id)
    response = ConsumerGroupHeartbeatResponse(
        member_id=request.member_id, member_epoch=request.member_epoch
    )
    answer: GroupOutcome = Outcome(replies=((ticket, response),))
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None:
            raise unknown_member(group, request.member_id)
        return fence(side, group, [member], moment) + answer
    static = group.static_member(request.instance_id)
    member = check_static(static, request.member_id, request.instance_id)
    if request.member_epoch == LEAVE_EPOCH:
        return fence(side, group, [member], moment) + answer
    # It means to come back within its session, and its partitions wait for it so long.
    absent = replace(
        member,
        member_epoch=LEAVE_STATIC_EPOCH,
        assigned=dict.fromkeys(member.assigned, 0),
        pending_revocation={},
    )
    side.deadlines.cancel(Wait(Waits.REBALANCE, group.group_id, member.member_id))
    record = consumer_records.current_assignment(group.group_id, absent)
    return Outcome((record,), answer.replies)
