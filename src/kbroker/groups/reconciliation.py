"""The way of one member from what it has to what its group wants it to have.

A group first decides on a target assignment and then leads each member to it,
one heartbeat at a time. The rule that everything here serves: a partition is
given to a member only when nobody else holds it, and a member holds a partition
until it has said itself that it gave it up (or was removed).

state                  heartbeat finds              next state
---------------------  ---------------------------  ------------------------------------
STABLE                 no newer target              STABLE, same epoch
STABLE                 something to give up         UNREVOKED_PARTITIONS, same epoch
STABLE                 nothing to give up           at the target's epoch: STABLE, or
                                                    UNRELEASED_PARTITIONS if some of it is
                                                    still held by others
UNREVOKED_PARTITIONS   member still owns them       the same
UNREVOKED_PARTITIONS   member gave them up          as from STABLE, towards the newest target
UNRELEASED_PARTITIONS  any                          as from STABLE, towards the newest target
UNKNOWN                member owns nothing          as from STABLE
UNKNOWN                member owns anything         refused: it must join anew
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kbroker.groups.consumer_members import ConsumerMember, MemberState
from kbroker.groups.refused import RefusedError
from kbroker.wire import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Callable, Set

    from kbroker.groups.assignors import Partition, Partitions


@dataclass(frozen=True, slots=True)
class Target:
    """What a member shall have in the end, and since which epoch that is so."""

    epoch: int
    partitions: Partitions


def reconcile(
    member: ConsumerMember,
    target: Target,
    is_held_by_other: Callable[[Partition], bool],
    owned: Set[Partition] | None,
) -> ConsumerMember:
    """The member one step closer to ``target``; the same one if there is no step to take.

    ``owned`` is what the member says it still owns, None if it did not say.
    `RefusedError` if the member must join anew.
    """
    epoch = member.member_epoch
    match member.state:
        case MemberState.STABLE if epoch == target.epoch:
            return member
        case MemberState.UNREVOKED_PARTITIONS:
            if _still_owns(member.pending_revocation.keys(), owned):
                return member
            epoch += 1
        case MemberState.UNKNOWN if owned is None or owned:
            raise RefusedError(
                ErrorCode.FENCED_MEMBER_EPOCH,
                "The consumer group member is in a unknown state. "
                "The member must abandon all its partitions and rejoin.",
            )
    return _step(member, epoch, target, is_held_by_other, owned)


def _step(
    member: ConsumerMember,
    epoch: int,
    target: Target,
    is_held_by_other: Callable[[Partition], bool],
    owned: Set[Partition] | None,
) -> ConsumerMember:
    kept = {part: since for part, since in member.assigned.items() if part in target.partitions}
    revoked = {part: since for part, since in member.assigned.items() if part not in kept}
    if revoked and _still_owns(revoked.keys(), owned):
        return replace(
            _at(member, epoch),
            state=MemberState.UNREVOKED_PARTITIONS,
            assigned=kept,
            pending_revocation=revoked,
        )
    missing = target.partitions - kept.keys()
    unreleased = {partition for partition in missing if is_held_by_other(partition)}
    return replace(
        _at(member, target.epoch),
        state=MemberState.UNRELEASED_PARTITIONS if unreleased else MemberState.STABLE,
        assigned=kept | dict.fromkeys(missing - unreleased, target.epoch),
        pending_revocation={},
    )


def _at(member: ConsumerMember, epoch: int) -> ConsumerMember:
    # The epoch before is remembered, because the answer that tells of the new one may get lost.
    # A step that stays in its epoch must not forget it: that answer may get lost as well.
    if epoch == member.member_epoch:
        return member
    return replace(member, member_epoch=epoch, previous_member_epoch=member.member_epoch)


def _still_owns(revoked: Set[Partition], owned: Set[Partition] | None) -> bool:
    """Whether the member may still own some of it; one that says nothing may."""
    return owned is None or not revoked.isdisjoint(owned)
