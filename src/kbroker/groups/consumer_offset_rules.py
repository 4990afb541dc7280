"""What a consumer group says about its offsets: who may commit and who may fetch.

A member commits in its member epoch. A commit that was under way while the member
moved on to a newer epoch is still good for every partition that the member has held
since that epoch or longer (KIP-1251): nobody else can have read it meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kbroker.wire import ErrorCode

if TYPE_CHECKING:
    from kbroker.groups.assignors import Partition
    from kbroker.groups.consumer_group import ConsumerGroup
    from kbroker.groups.consumer_members import ConsumerMember

# Before this version OffsetCommit had no error code that a member could understand.
_COMMIT_FROM = 9


def check_consumer_commit(
    group: ConsumerGroup,
    *,
    member_id: str,
    instance_id: str | None,
    member_epoch: int,
    is_transactional: bool,
    api_version: int,
) -> ErrorCode:
    """Whether a commit is from a member, or from somebody who needs to be none (G5).

    A commit that passes must also pass `check_consumer_commit_of` for each partition.
    """
    if member_epoch < 0 and not group.members:
        return ErrorCode.NONE  # an administrator, or a consumer that assigns itself
    if is_transactional and member_epoch == -1 and not member_id and instance_id is None:
        return ErrorCode.NONE  # a producer that does not say for which member it commits
    member = group.members.get(member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if not is_transactional and member.classic is None and api_version < _COMMIT_FROM:
        return ErrorCode.UNSUPPORTED_VERSION
    if member_epoch > member.member_epoch:
        return _stale(member)
    return ErrorCode.NONE


def check_consumer_commit_of(
    group: ConsumerGroup, *, member_id: str, member_epoch: int, partition: Partition
) -> ErrorCode:
    """Whether a commit that is from a member may be about this partition."""
    member = group.members.get(member_id)
    if member is None or member_epoch == member.member_epoch:
        return ErrorCode.NONE
    since = member.assigned.get(partition, member.pending_revocation.get(partition))
    if since is None or member_epoch < since:
        return _stale(member)
    return ErrorCode.NONE


def check_consumer_fetch(
    group: ConsumerGroup, *, member_id: str | None, member_epoch: int
) -> ErrorCode:
    """Whether committed offsets may be fetched: by anybody who does not claim to be a member."""
    if member_id is None and member_epoch < 0:
        return ErrorCode.NONE
    member = group.members.get(member_id or "")
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE if member_epoch == member.member_epoch else _stale(member)


def _stale(member: ConsumerMember) -> ErrorCode:
    if member.classic is not None:
        return ErrorCode.ILLEGAL_GENERATION
    return ErrorCode.STALE_MEMBER_EPOCH
