"""What a classic group says about its offsets: who may commit or delete, how long they stay."""

from kbroker.groups.classic_group import ClassicGroup, ClassicState
from kbroker.groups.committed_offset import CommittedOffset
from kbroker.wire import ErrorCode
from kbroker.wire.messages.offset_commit import OffsetCommitRequest

# From this version on a commit to a group that does not exist says so; before, clients knew
# ILLEGAL_GENERATION alone.
_GROUP_NOT_FOUND_FROM = 9


def check_commit(
    group: ClassicGroup | None, request: OffsetCommitRequest, version: int
) -> ErrorCode:
    """Whether a commit is from a member, or from somebody who needs to be none.

    A generation below 0 comes from an administrator or from a consumer that assigns its
    partitions itself; both may commit while the group has no members.
    """
    generation = request.generation_id_or_member_epoch
    if group is None:
        if generation < 0:
            return ErrorCode.NONE
        if version >= _GROUP_NOT_FOUND_FROM:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION
    if generation < 0 and group.state is ClassicState.EMPTY:
        return ErrorCode.NONE
    error = group.check_member(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    if generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if group.state is ClassicState.COMPLETING_REBALANCE:
        # The member knows its generation but not its partitions, so it cannot have read any.
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def check_delete(group: ClassicGroup) -> ErrorCode:
    """Whether offsets can be deleted: of a group with members only if we know what they read."""
    if group.state is ClassicState.EMPTY or group.uses_consumer_protocol:
        return ErrorCode.NONE
    return ErrorCode.NON_EMPTY_GROUP


def kept_since(group: ClassicGroup, topic: str, committed: CommittedOffset) -> int | None:
    """From when on the retention of an offset counts, or None if it may not go (G3, KIP-211)."""
    if group.protocol_type is None:
        return committed.commit_timestamp_ms  # nobody was ever a member
    if group.state is ClassicState.EMPTY:
        if group.state_since_ms is None:
            return committed.commit_timestamp_ms
        return group.state_since_ms
    if (
        group.state is ClassicState.STABLE
        and group.subscribed_topics is not None
        and not group.is_subscribed(topic)
    ):
        return committed.commit_timestamp_ms
    return None
