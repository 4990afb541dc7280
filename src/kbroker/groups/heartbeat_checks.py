"""What a ConsumerGroupHeartbeat must look like, whatever the group; the words are Kafka's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.groups.consumer_members import JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH
from kbroker.groups.refused import RefusedError
from kbroker.groups.subscriptions import check_regex
from kbroker.wire import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Collection, Set

    from kbroker.groups.assignors import Partition
    from kbroker.groups.consumer_members import ConsumerMember
    from kbroker.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

# From this version on members make their ids themselves (KIP-1082).
_MEMBER_ID_REQUIRED_FROM = 1


def check_request(
    request: ConsumerGroupHeartbeatRequest, version: int, assignors: Collection[str]
) -> None:
    """`RefusedError` if the request contradicts itself."""
    epoch = request.member_epoch
    if version >= _MEMBER_ID_REQUIRED_FROM or epoch > 0 or epoch == LEAVE_EPOCH:
        _check(not _is_blank(request.member_id), "MemberId can't be empty.")
    _check(not _is_blank(request.group_id), "GroupId can't be empty.")
    _check(not _is_blank(request.instance_id), "InstanceId can't be empty.")
    _check(not _is_blank(request.rack_id), "RackId can't be empty.")
    if epoch == JOIN_EPOCH:
        _check(
            request.rebalance_timeout_ms != -1,
            "RebalanceTimeoutMs must be provided in first request.",
        )
        _check(request.topic_partitions == [], "TopicPartitions must be empty when (re-)joining.")
        _check(
            request.subscribed_topic_names is not None
            or request.subscribed_topic_regex is not None,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null "
            "when (re-)joining.",
        )
    elif epoch == LEAVE_STATIC_EPOCH:
        _check(request.instance_id is not None, "InstanceId can't be null.")
    else:
        _check(epoch > LEAVE_STATIC_EPOCH, "MemberEpoch is invalid.")
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise RefusedError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. "
            f"Supported assignors: {', '.join(assignors)}.",
        )
    if request.subscribed_topic_regex:
        check_regex(request.subscribed_topic_regex)


def _is_blank(text: str | None) -> bool:
    return text is not None and not text.strip()


def check_member_epoch(member: ConsumerMember, received: int, owned: Set[Partition] | None) -> None:
    """`RefusedError` if the member is not where we think it is (G5)."""
    if received in (JOIN_EPOCH, member.member_epoch):
        return
    # The answer that brought it to the new epoch may have been lost.
    if (
        received == member.previous_member_epoch < member.member_epoch
        and owned is not None
        and owned <= member.assigned.keys()
    ):
        return
    relation = "greater" if received > member.member_epoch else "smaller"
    raise RefusedError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {relation} member epoch ({received}) than the one known "
        f"by the group coordinator ({member.member_epoch}). The member must abandon all its "
        "partitions and rejoin.",
    )


def _check(holds: bool, message: str) -> None:
    if not holds:
        raise RefusedError(ErrorCode.INVALID_REQUEST, message)
